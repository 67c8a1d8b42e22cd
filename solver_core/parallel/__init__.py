"""Tasks go in, and are done by several workers (``workers``), who help each other with large islands (``work_queue``).

The result is the same to the bit with any number of workers.
"""
