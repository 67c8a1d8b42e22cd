"""All scenes, by name: importing the modules adds them."""

import arcades_and_toys  # noqa: F401
import machines  # noqa: F401
import marbles_and_bowls  # noqa: F401
import mechanisms  # noqa: F401
import stacks_and_dominoes  # noqa: F401
import things_that_break  # noqa: F401
import tutorials  # noqa: F401
import untidy_animation  # noqa: F401
import untidy_files  # noqa: F401
from played_scenes import SCENES

__all__ = ["SCENES"]
