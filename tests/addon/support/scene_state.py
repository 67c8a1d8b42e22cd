"""What a scene looks like, to compare before and after."""

import bpy


def visible_state(scene):
    """What a user, or an autosave, can see of a scene."""
    return {
        "frame": scene.frame_current,
        # at a late frame it waits, off, for its first one
        "enabled": scene.rigidbody_world.enabled or scene.cairn.world_waits,
        "baked": scene.cairn.is_baked,
        "actions": sorted(action.name for action in bpy.data.actions if action.users),
        "locations": {obj.name: tuple(obj.location) for obj in scene.objects},
        "assigned": {obj.name: getattr(obj.animation_data, "action", None) for obj in scene.objects},
    }
