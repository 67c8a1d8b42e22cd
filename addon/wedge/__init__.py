"""A scene and what to vary in it come in; a folder of baked variants with a table and a contact sheet goes out. Each
variant is a task, a command that any machine can run (``plan``, ``task``). Engines run the tasks (``local``,
``dask_engine``), or write them down for a farm (``openjd``, ``flamenco``).
"""
