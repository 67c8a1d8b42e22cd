"""The step: model, state and a frame's settings go in; the state a frame later and a record of the frame come out.

``step`` is the list of stages, ``stage_names`` has their names, ``step_data`` all that they read and write.
``detection`` is the loop in which contacts are found and positions solved; ``island_solve`` decides how an island is
solved.
"""
