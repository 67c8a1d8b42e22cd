"""A Blender scene and a range of frames come in; a model of the core, what drives it from outside in each frame, and
notes on what is ignored go out. Everything about scenes is read here, and nothing in the file is changed.
"""
