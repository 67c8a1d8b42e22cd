"""*Live* without a window: when it looks, from which frame it begins again, and that what is kept is a bake."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_scene
from cairn.addon.live import session as live_session
from cairn.addon.live.session import QUIET, Session
from cairn.addon.read.scene_digest import scene_digest
from cairn.addon.settings import BakeSettings
from cairn.addon.write.channels import channelbag_of  # noqa: F401
