"""Properties, panels, operators, presets and preferences: what users see. Settings come in from them and go out as
``BakeSettings``; a bake or check runs here on a timer, and its progress, notes and errors are shown.
"""
