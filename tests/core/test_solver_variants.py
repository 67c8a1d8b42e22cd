"""Every variant of every method drives a simulation: it moves a heap as soundly as the method's own values do, and it
really is another solve: the motion differs in some bit.
"""

import functools

import pytest

from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import CONTACT_OPTIONS
from cairn.solver_core.scenes import pile
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solvers.registry import METHODS, find_method

# Values other than the methods' own.
_VALUES = {
    "relaxation": (0.7,),
    "alpha": (0.5,),
    "conjugacy": ("polak_ribiere",),
    "line_search": (True,),
    "strategy": ("zero", "random", "approximation"),
    "warm_start_sweeps": (0,),
    "directions": (4, 16),
    "seed": (5,),
}
# The strategies differ where a pair of numbers is exactly 0, as at the start of a solve without sweeps before it.
_WITH = {
    "strategy": {"warm_start_sweeps": 0},
    "seed": {"warm_start_sweeps": 0, "strategy": "random"},
}
# Of the bodies' size, and of the speed that a contact had to stop: methods that sweep end some thousandths off.
_MOST_OVERLAP = 0.005
_MOST_ERROR = 0.02


def variants():
    """(method, option, value) of all options that methods have."""
    return [
        (method, option, value)
        for method in METHODS
        for option in CONTACT_OPTIONS
        if option in options_of(method)
        for value in _VALUES[option]
    ]


def options_of(method):
    return {**find_method(method).options, **find_method(method, find_method(method).frictions[-1]).options}


@functools.cache
def heap(method, **options):
    """Digest of the poses after 20 frames of a heap that falls, the deepest overlap, and the largest error."""
    friction = "polyhedral" if "polyhedral" in find_method(method).frictions else "box"
    simulation = Simulation(
        pile(12).build_model(), SimulationOptions(method=method, friction=friction, quality="exact", **options)
    )
    reports = [simulation.advance_frame() for _ in range(20)]
    worst = max(report.residual for report in reports)
    return simulation.poses()[0].tobytes(), max(report.max_penetration for report in reports), worst


def test_all_options_of_contact_methods_are_tried():
    assert {option for _, option, _ in variants()} == set(CONTACT_OPTIONS)
    assert set(_VALUES) == set(CONTACT_OPTIONS)


@pytest.mark.parametrize(("method", "option", "value"), variants())
def test_a_variant_moves_a_heap_soundly_and_otherwise(method, option, value):
    own = _WITH.get(option, {})
    poses, overlap, error = heap(method, **own, **{option: value})
    assert overlap < _MOST_OVERLAP
    assert error < _MOST_ERROR
    assert poses != heap(method, **own)[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "nncg", "relaxation": 1.2}, "solver 'nncg' has no option 'relaxation'"),
        ({"method": "psor", "relaxation": 2.0}, "relaxation is 2.0; it must lie between 0 and 2"),
        ({"method": "fischer_newton", "friction": "polyhedral", "strategy": "luck"}, "strategy is 'luck'"),
        ({"method": "lemke", "friction": "polyhedral", "directions": 5}, "directions is 5; it must be an even number"),
        (
            {"method": "nncg", "friction": "cone", "directions": 8},
            "directions is 8; only friction 'polyhedral' has any",
        ),
    ],
)
def test_a_variant_that_a_method_has_not_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SimulationOptions(**options)
