"""Cairn: contact-rich rigid-body animation for Blender."""

__version__ = "0.1.0"
