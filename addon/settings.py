"""What a bake is asked for: which solvers and friction models there are, and the one path of settings to the core.

The panel's properties, the arguments of ``cairn bake`` and the options of the core have the names of the fields of
``BakeSettings``. A new setting is a field here, a property in ui/properties.py and an argument in cli.py.
Loads neither bpy nor Numba.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

# The registry of solvers cannot be asked here: it would load Numba. test_registration.py compares the names.
# Name, title and description of each, as Blender wants them.
METHODS = (
    (
        "auto",
        "Automatic",
        "Chooses by the size and the state of each group of touching bodies, and takes a stronger method if the "
        "tolerance is not reached",
    ),
    (
        "alm_newton",
        "Newton",
        "Augmented Lagrangian with Newton's method: holds high stacks, arches, card houses and heavy things on light "
        "ones",
    ),
    (
        "nncg",
        "Conjugate Gradient",
        "Nonsmooth nonlinear conjugate gradient: cheap iterations, good for heaps and walls (Silcowitz 2010)",
    ),
    (
        "pgs",
        "Gauss-Seidel",
        "Projected Gauss-Seidel, as most game engines have: fast for loose debris, slow for tall stacks",
    ),
    ("psor", "Over-Relaxation", "Gauss-Seidel with longer steps (Erleben 2013)"),
    (
        "amgs",
        "Accelerated Gauss-Seidel",
        "Accelerated modulus-based Gauss-Seidel: about half the sweeps of Gauss-Seidel (Miyamoto 2019)",
    ),
    ("amsor", "Accelerated Over-Relaxation", "Accelerated modulus-based over-relaxation (Miyamoto 2019)"),
    (
        "fischer_newton",
        "Fischer-Newton",
        "Newton's method on the whole complementarity problem with polygonal friction (Erleben 2013)",
    ),
    (
        "staggered",
        "Staggered",
        "Solves for normal forces and for friction alternately, until both fit; may not converge (Erleben 2013)",
    ),
    ("lemke", "Lemke", "Pivoting on the full problem: exact and slow, for a few contacts (Lloyd 2004)"),
    (
        "lemke_structural",
        "Lemke, Structural",
        "Pivoting that uses the structure of contact: exact, for small groups of bodies (Lloyd 2004)",
    ),
    (
        "lemke_reduced",
        "Lemke, Reduced",
        "Pivoting that adds friction where it acts: exact, for small groups of bodies (Lloyd 2004)",
    ),
)
# What islands of bodies in motion get, of the default solver.
QUALITIES = (
    (
        "preview",
        "Preview",
        "Bodies in motion take few small steps: overlaps while they hit each other may show. Those that rest are "
        "solved to the tolerance",
    ),
    (
        "production",
        "Production",
        "Bodies in motion take small steps, with overlaps that hardly show, at a cost that is known beforehand; those "
        "that rest are solved to the tolerance",
    ),
    (
        "exact",
        "Exact",
        "Every step is solved to the tolerance, also in the middle of impacts: about three times slower",
    ),
)
FRICTION_MODELS = (
    ("cone", "Cone", "Coulomb's law exactly: friction is the same in every direction"),
    (
        "box",
        "Box",
        "Two independent friction directions at each contact; sliding along a diagonal meets up to 41 % more friction",
    ),
    (
        "polyhedral",
        "Polygon",
        "Friction lies in a polygon of so many Corners: for the methods that pivot, and Fischer-Newton",
    ),
)
# How nncg makes its directions, and which derivative fischer_newton takes where there is none.
CONJUGACIES = (
    ("fletcher_reeves", "Fletcher-Reeves", "The new direction is as long as the error has changed"),
    ("polak_ribiere", "Polak-Ribière", "The new direction forgets the old one where the error has turned"),
)
STRATEGIES = (
    ("perturbation", "Perturbation", "The derivative is taken as if the force were a little above zero"),
    ("zero", "Zero", "The derivative is taken in which force and speed count the same"),
    ("random", "Random", "One of the derivatives around is taken at random, by the Seed"),
    ("approximation", "Differences", "All derivatives are finite differences, which is slower"),
)
# Which solver knows which model; the panel warns and a bake refuses where they do not go together.
FRICTIONS_OF = {
    "auto": ("cone", "box", "polyhedral"),
    "alm_newton": ("cone", "box"),
    "nncg": ("cone", "box", "polyhedral"),
    "pgs": ("cone", "box", "polyhedral"),
    "psor": ("cone", "box", "polyhedral"),
    "amgs": ("box",),
    "amsor": ("box",),
    "fischer_newton": ("polyhedral",),
    "staggered": ("cone", "box", "polyhedral"),
    "lemke": ("polyhedral",),
    "lemke_structural": ("polyhedral",),
    "lemke_reduced": ("polyhedral",),
}
# Variants of the solvers: name, title, and the solvers or the model of friction that have it.
VARIANTS = (
    ("directions", "Corners", ("polyhedral",)),
    ("relaxation", "Relaxation", ("psor", "amsor")),
    ("alpha", "Alpha", ("amgs", "amsor")),
    ("conjugacy", "Conjugacy", ("nncg",)),
    ("line_search", "Line Search", ("nncg",)),
    ("strategy", "Strategy", ("fischer_newton",)),
    ("warm_start_sweeps", "Sweeps Before", ("fischer_newton",)),
    ("seed", "Seed", ("fischer_newton",)),
)
VARIANT_NAMES = tuple(name for name, *_ in VARIANTS)
# Of these a 0 in the panel is the solver's own value.
_ZERO_IS_OWN = ("max_iterations", "relaxation", "alpha")
_TITLES = {name: title for name, title, _ in METHODS + FRICTION_MODELS}


def friction_mismatch(method: str, friction: str) -> str:
    """Why this solver and this friction model do not go together; empty if they do."""
    known = FRICTIONS_OF[method]
    if friction in known:
        return ""
    choice = " or ".join(_TITLES[name] for name in known)
    return f"{_TITLES[method]} does not know {_TITLES[friction]} friction; choose {choice}"


def why_without(variant: str, method: str, friction: str) -> str:
    """Whose a variant is, where this solver with this friction model has none; empty if it has."""
    owners = next(owners for name, _, owners in VARIANTS if name == variant)
    if method in owners or friction in owners:
        return ""
    kind = "friction" if owners[0] == "polyhedral" else "the solver" if len(owners) == 1 else "the solvers"
    return f"only for {kind} {' and '.join(_TITLES[name] for name in owners)}"


@dataclass(frozen=True, kw_only=True)
class BakeSettings:
    """What a bake is asked for.

    Attributes
    ----------
    start, end : int or None
        First frame (the start pose) and last frame; None: the range of the Rigid Body World's cache.
    method, quality, friction, substeps, tolerance, max_iterations, threads
        As in ``SimulationOptions``; ``max_iterations`` None is the method's own limit.
    max_substeps : int
        Likewise; below ``substeps`` it is ``substeps``, so that all frames have as many.
    directions, relaxation, alpha, conjugacy, line_search, strategy, warm_start_sweeps, seed
        Likewise: variants of the method; None is the method's own value.
    contacts : bool
        Whether the frames' contacts are kept, as in ``SimulationOptions``.
    hit_keys : bool
        Whether there are keys between frames where motion breaks, ``SimulationOptions.breaks``.
    """

    start: int | None = None
    end: int | None = None
    method: str = "auto"
    quality: str = "production"
    friction: str = "cone"
    substeps: int = 4
    max_substeps: int = 16
    tolerance: float = 1e-6
    max_iterations: int | None = None
    threads: int = 0
    directions: int | None = None
    relaxation: float | None = None
    alpha: float | None = None
    conjugacy: str | None = None
    line_search: bool | None = None
    strategy: str | None = None
    warm_start_sweeps: int | None = None
    seed: int | None = None
    contacts: bool = False
    hit_keys: bool = False

    @classmethod
    def from_scene(cls, scene, given: Mapping[str, Any] = MappingProxyType({})) -> "BakeSettings":
        """What the panel holds, with what is ``given`` in its place; of variants those that the solver has."""
        panel = scene.cairn
        values = {name: _plain(name, getattr(panel, name)) for name in OPTION_NAMES}
        if panel.use_custom_range:
            values |= {"start": panel.frame_start, "end": panel.frame_end}
        elif is_cache_elsewhere(scene):
            values |= {"start": scene.frame_start, "end": scene.frame_end}
        contacts = panel.contact_points or panel.impact_curves or panel.overlay.contacts
        values |= {"contacts": contacts, "hit_keys": panel.hit_keys} | dict(given)
        for name in VARIANT_NAMES:
            if name not in given and why_without(name, values["method"], values["friction"]):
                values[name] = None
        return cls(**values)

    def mismatch(self) -> str:
        """What does not go together; empty if all does."""
        mismatch = friction_mismatch(self.method, self.friction)
        for name, title, _ in VARIANTS:
            reason = why_without(name, self.method, self.friction) if getattr(self, name) is not None else ""
            mismatch = mismatch or (reason and f"{title} is {reason}")
        return mismatch

    def options(self, frame_rate: float) -> dict[str, Any]:
        """Keyword arguments of ``SimulationOptions``."""
        options = {"frame_rate": frame_rate} | {name: getattr(self, name) for name in OPTION_NAMES}
        if self.contacts:
            options["contacts"] = True
        if self.hit_keys:
            options["breaks"] = True
        return options | {"max_substeps": max(self.substeps, self.max_substeps)}


def is_cache_elsewhere(scene) -> bool:
    """Whether the Rigid Body World's cache has no frame of the scene's: that of a new world has 1 to 250."""
    world = scene.rigidbody_world
    if world is None or scene.frame_start >= scene.frame_end:
        return False
    cache = world.point_cache
    return cache.frame_end <= scene.frame_start or scene.frame_end <= cache.frame_start


def _plain(name, value):
    """A value of the panel as it is meant."""
    if name in _ZERO_IS_OWN and not value:
        return None
    # The panel holds single precision: 1e-6 is meant where 9.99999997e-07 is stored.
    return float(f"{value:.6g}") if isinstance(value, float) else value


# The settings that the panel, its presets and the core hold under the same names; the range is the bake's own.
_NOT_OPTIONS = ("start", "end", "contacts", "hit_keys")
OPTION_NAMES = tuple(field.name for field in fields(BakeSettings) if field.name not in _NOT_OPTIONS)
