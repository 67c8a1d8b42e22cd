"""What Cairn draws into the 3D view: poses while a bake runs, and the overlay. Arrays in, pictures out; no object is
touched. Loads neither Numba nor ``gpu`` before something is drawn.
"""
