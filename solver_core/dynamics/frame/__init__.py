"""One frame from its first stage to its last: ``step`` is the list of stages, ``stages`` calls them.

In: ``StepMembers``, all that a step reads and writes by name (``step_data``, ``allocation``), and the table of kernels
(``compilation``). Out: the state a frame later. ``detection`` is the loop in which contacts are found and positions
solved.
"""
