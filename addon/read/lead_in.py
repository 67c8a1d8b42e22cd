"""How an object moves before its bake begins, where its own F-curves alone do not say it.

A bake mutes constraints and drivers, and lies over NLA tracks; what they did before the first baked frame would be
lost. So it is read from the evaluated scene, frame by frame from the scene's first frame, and becomes keys too.
"""

import numpy as np

from ..write import earlier_animation as earlier
from ..write import fcurves
from ..write.keyframes import LeadIn
from .frame_samples import sample_frame, view_layer_of
from .keyed import muted_by_bake
from .object_keys import find_object, find_objects


def needs_sampling(obj):
    """Whether something else than plain F-curves moves an object, as it is without a bake."""
    data = obj.animation_data
    muted = muted_by_bake(obj) if obj.constraints or (data is not None and data.drivers) else ()
    if any((not one.mute or one.name in muted) and one.influence > 0 for one in obj.constraints):
        return True
    if data is None:
        return False
    if data.use_nla and any(not track.mute and track.strips for track in data.nla_tracks):
        return True
    if earlier.acting_drivers(obj) or any(fcurves.key_of(one) in muted for one in data.drivers):
        return True
    curves = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(obj)))
    return any(
        earlier.is_own(path, obj.rotation_mode) and not curve.mute and not fcurves.is_plain(curve)
        for (path, _), curve in curves.items()
    )


def objects_to_sample(scene, export):
    """Names of the bodies whose motion before the bake has to be sampled."""
    names = [body.object_name for body in export.bodies if body.moves]
    found = find_objects(names)
    return [name for name in names if needs_sampling(found[name])]


def sample(scene, export, object_names, frame, shown=None):
    """Evaluate a frame; {object name: (world matrix, parents' part)}.

    Called inside ``simulation_paused``, and inside ``earlier_animation`` if the scene is baked; or with the scene that
    ``Aside.frames`` has ``shown``.
    """
    parents = sample_frame(scene, export, frame, shown).parent_matrix
    start = {body.object_name: body.parent_matrix_start for body in export.bodies}
    depsgraph = view_layer_of(shown or scene).depsgraph
    matrices = {}
    for name in object_names:
        world = find_object(name).evaluated_get(depsgraph).matrix_world
        matrices[name] = np.array(world), parents.get(name, start[name])
    return matrices


def collect(object_names, samples):
    """Samples by frame -> {object name: LeadIn}; without any frame the keys just begin where the bake does."""
    frames = sorted(samples)
    lead_in = {}
    for name in object_names:
        world = np.array([samples[frame][name][0] for frame in frames], float).reshape(-1, 4, 4)
        parent = np.array([samples[frame][name][1] for frame in frames], float).reshape(-1, 4, 4)
        lead_in[name] = LeadIn(np.array(frames, float), world, parent)
    return lead_in
