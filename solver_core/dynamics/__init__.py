"""The step: model, state and a frame's settings go in; the state a frame later and a record of the frame come out.

From the top down, as a frame calls them: ``frame`` is the list of stages and the loop in which contacts are found;
``solving`` decides how an island is solved; ``joints`` keeps joints closed; ``outside`` is what acts from outside;
``rest`` says who is left out; ``motion`` moves bodies; ``islands`` has the groups that share no body; ``schedule`` has
the stages' names, and who does a task.
"""
