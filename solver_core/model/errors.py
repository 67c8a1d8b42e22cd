"""What is raised where a model cannot be simulated."""


class ModelError(ValueError):
    """A body or joint that cannot be simulated; the message names it, the bad value and the allowed range."""
