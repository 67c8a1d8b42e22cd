"""The order of a step's work: its stages by name, who does a task, and what it took.

In: tasks of a frame. Out: calls by address, on one worker or on all (``sharing``), and the frame's times and counts
(``frame_record``).
"""
