"""Takes: bakes of a scene that are kept side by side, and what plays of them.

In comes the bake that a scene carries. A *take* is an entry of ``scene.cairn.takes`` (ui/takes_properties.py) with its
name, what the panel says of the bake, and one action with a slot for each body: the channels that a bake replaces, and
nothing else. Pointers keep actions in the file. Out goes a bake again: ``use`` gives each body an action of its own
with these channels beside the user's other ones, by the same steps as a bake does (write/attach.py). So Delete Bake,
Undo and copies of objects know nothing of takes, and a take is changed by nothing that is done to the bake.

A body is found by the number that its object has in the session, which survives renaming, or by its name, which
survives saving. What plays is never lost: a bake that is no take, or was edited since it was kept, becomes a take
before another one takes its place, and before *Show* takes it off.
"""
