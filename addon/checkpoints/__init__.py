"""A bake that is running comes in, frame by frame; files from which it goes on to the same bits go out, in a folder
beside its output. What is in them: ``recording`` and ``identity``; how they get there whole: ``folder``; when:
``running``.
"""
