"""*Live*: a scene that is simulated in memory while somebody works on it. In come changes of the scene and ticks of a
clock; out go poses to draw, and a bake that has still to write its keys.
"""
