"""Force fields: what pulls, blows and slows bodies where they are, beside gravity.

A field is a frozen dataclass that checks what it is given; ``Field`` has what all have. Kernels read fields as the rows
of a table (``packed``), a column a number. The laws are in ``dynamics/outside/field_laws.py``: those of Blender's force
fields (docs/decisions/46-forces.md).
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .errors import ModelError

# Kinds, shapes, falloffs and sides, as kernels read them.
FORCE, WIND, VORTEX, HARMONIC, DRAG, CHARGE, MAGNETIC, TURBULENCE = range(8)
POINT, LINE, PLANE = range(3)
SPHERE, TUBE, CONE = range(3)
BOTH, POSITIVE, NEGATIVE = range(3)
_SHAPES, _FALLOFFS, _SIDES = ("point", "line", "plane"), ("sphere", "tube", "cone"), ("both", "positive", "negative")

# Columns of a field's row; ``PLACE`` and ``AXIS`` are the first of three.
KIND, SHAPE, FALLOFF, SIDE, PLACE, AXIS, STRENGTH, FLOW, NOISE, SEED = 0, 1, 2, 3, 4, 7, 10, 11, 12, 13
POWER, LEAST, MOST, RADIAL_POWER, LEAST_RADIUS, MOST_RADIUS = range(14, 20)
DAMPING, LENGTH, WEIGHT, IS_INVERSE_SQUARE, IS_GLOBAL, BY_AREA = range(20, 26)
COLUMNS = 26


@dataclass(frozen=True, kw_only=True)
class Field:
    """What all fields have.

    Attributes
    ----------
    position, axis : sequence of 3 floats
        Its place in the world [m], and its z axis there, which is normalised. Of a field that a body carries both are
        in the user frame of that body.
    strength : float
        What it means is said at each kind.
    flow : float
        What moves through the field is slowed by this force for each m/s [N s/m]; of harmonic fields and drag no part.
    noise : float
        How far the strength changes at random from frame to frame.
    seed : int
        Of these changes.
    shape : {"point", "line", "plane"}
        Where the field comes from: its place, the line along its axis, or the plane across it.
    falloff : {"sphere", "tube", "cone"}
        Whether distance counts, distance along and across the axis, or distance along it and the angle with it.
    side : {"both", "positive", "negative"}
        On which side of its place along the axis it acts.
    power : float
        It falls with (1 + r - least)^-power, with r the distance [m].
    least_distance, most_distance : float
        Up to the first it is as strong as it can be, beyond the second it is not [m].
    radial_power, least_radius, most_radius : float
        Likewise across the axis, of tubes in metres, of cones in degrees.
    weight : float
        What the whole is multiplied by, but for the damping of harmonic fields.
    """

    kind: ClassVar[int]

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    strength: float = 1.0
    flow: float = 0.0
    noise: float = 0.0
    seed: int = 1
    shape: str = "point"
    falloff: str = "sphere"
    side: str = "both"
    power: float = 0.0
    least_distance: float = 0.0
    most_distance: float = math.inf
    radial_power: float = 0.0
    least_radius: float = 0.0
    most_radius: float = math.inf
    weight: float = 1.0

    def __post_init__(self):
        name = type(self).__name__
        for what, value, allowed in (
            ("shape", self.shape, _SHAPES),
            ("falloff", self.falloff, _FALLOFFS),
            ("side", self.side, _SIDES),
        ):
            if value not in allowed:
                raise ModelError(f"{name}: {what} is {value!r}; it must be one of {', '.join(allowed)}")
        for what in ("position", "axis"):
            vector = getattr(self, what)
            if len(vector) != 3 or not all(math.isfinite(number) for number in vector):
                raise ModelError(f"{name}: {what} is {vector!r}; it must be 3 finite numbers")
        if not any(self.axis):
            raise ModelError(f"{name}: axis is zero; it must be a direction")
        for what in ("strength", "flow", "noise", "power", "radial_power", "weight"):
            _check(name, what, getattr(self, what))
        for what in ("noise", "flow", "least_distance", "least_radius"):
            _check(name, what, getattr(self, what), least=0.0)
        for what in ("most_distance", "most_radius"):
            if not getattr(self, what) >= 0.0:
                raise ModelError(f"{name}: {what} is {getattr(self, what)}; it must be at least 0")

    def numbers(self) -> np.ndarray:
        """The field as a row of the table, float64 [COLUMNS]."""
        row = np.zeros(COLUMNS)
        row[KIND] = self.kind
        row[SHAPE], row[FALLOFF] = _SHAPES.index(self.shape), _FALLOFFS.index(self.falloff)
        row[SIDE], row[SEED] = _SIDES.index(self.side), self.seed
        length = math.sqrt(math.fsum(number * number for number in self.axis))
        for column in range(3):
            row[PLACE + column], row[AXIS + column] = self.position[column], self.axis[column] / length
        row[STRENGTH], row[FLOW], row[NOISE], row[WEIGHT] = self.strength, self.flow, self.noise, self.weight
        row[POWER], row[LEAST], row[MOST] = self.power, self.least_distance, self.most_distance
        row[RADIAL_POWER], row[LEAST_RADIUS], row[MOST_RADIUS] = self.radial_power, self.least_radius, self.most_radius
        self._write_own(row)
        return row

    def _write_own(self, row):
        """Write what this kind has beside."""


@dataclass(frozen=True, kw_only=True)
class Force(Field):
    """Pushes away from its place; ``strength`` in N.

    Attributes
    ----------
    inverse_square : bool
        Also falls with the square of the distance, as gravitation does; ``strength`` is in N m^2 then.
    """

    kind = FORCE

    inverse_square: bool = False

    def _write_own(self, row):
        row[IS_INVERSE_SQUARE] = self.inverse_square


@dataclass(frozen=True, kw_only=True)
class Wind(Field):
    """Pushes along its axis; ``strength`` in N.

    Attributes
    ----------
    by_area : bool
        It presses on what faces it, along the surface's normal, by strength times cos^2 of the angle between [N/m^2];
        flow in N s/m^3.
    """

    kind = WIND

    by_area: bool = False

    def _write_own(self, row):
        row[BY_AREA] = self.by_area


@dataclass(frozen=True, kw_only=True)
class Vortex(Field):
    """Pushes round its axis; ``strength`` in N/m.

    With the shape "point" by strength times distance. With another one what it pushes round is also drawn in, as
    Blender has it: strength s and distance r give r s along the way round, r s^2 inwards, and a drag of 1 N s/m.
    """

    kind = VORTEX


@dataclass(frozen=True, kw_only=True)
class Harmonic(Field):
    """A spring from its place; ``strength`` in N/m.

    Attributes
    ----------
    damping : float
        The drag is 2 damping sqrt(strength) [N s/m]: with 1 a body of 1 kg does not swing.
    rest_length : float
        Where the spring does not pull [m].
    """

    kind = HARMONIC

    damping: float = 0.0
    rest_length: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        _check("Harmonic", "damping", self.damping)
        _check("Harmonic", "rest_length", self.rest_length, least=0.0)

    def _write_own(self, row):
        row[DAMPING], row[LENGTH] = self.damping, self.rest_length


@dataclass(frozen=True, kw_only=True)
class Drag(Field):
    """Slows what moves, by damping v + strength v^2; ``strength`` in N s^2/m^2.

    Attributes
    ----------
    damping : float
        [N s/m].
    by_area : bool
        It presses on what moves ahead, along the surface's normal, by its speed u along that: damping u + strength u^2
        [N/m^2].
    """

    kind = DRAG

    damping: float = 0.0
    by_area: bool = False

    def __post_init__(self):
        super().__post_init__()
        _check("Drag", "damping", self.damping)

    def _write_own(self, row):
        row[DAMPING], row[BY_AREA] = self.damping, self.by_area


@dataclass(frozen=True, kw_only=True)
class Charge(Field):
    """Pushes charged bodies away, by charge times strength times distance; a falloff makes an inverse square of it."""

    kind = CHARGE


@dataclass(frozen=True, kw_only=True)
class Magnetic(Field):
    """Pushes across what moves: F = v x B with B of the size ``strength`` [N s/m].

    B goes round the axis with the shapes "point" and "line", and along it with "plane".
    """

    kind = MAGNETIC


@dataclass(frozen=True, kw_only=True)
class Turbulence(Field):
    """Pushes here one way and there another, by a noise that stays; ``strength`` in N.

    Attributes
    ----------
    size : float
        Of its eddies [m], above 0.
    is_global : bool
        The noise stays where it is in the world while the field moves.
    """

    kind = TURBULENCE

    size: float = 1.0
    is_global: bool = False

    def __post_init__(self):
        super().__post_init__()
        _check("Turbulence", "size", self.size)
        if not self.size > 0.0:
            raise ModelError(f"Turbulence: size is {self.size:g}; it must be above 0")

    def _write_own(self, row):
        row[LENGTH], row[IS_GLOBAL] = self.size, self.is_global


def fields_as_text(fields) -> list:
    """Fields as what JSON can hold."""
    return [[type(field).__name__, asdict(field)] for field in fields]


def fields_of_text(text) -> tuple[Field, ...]:
    """The inverse of ``fields_as_text``, to the bit."""
    known = {kind.__name__: kind for kind in (Force, Wind, Vortex, Harmonic, Drag, Charge, Magnetic, Turbulence)}
    found = []
    for name, values in text:
        given: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        found.append(known[name](**given))
    return tuple(found)


class FieldArrays(NamedTuple):
    """The fields of a model, or empty arrays where there is none.

    Attributes
    ----------
    values : float64 [2, field_count, COLUMNS]
        At the beginning and at the end of the frame.
    carrier : int64 [field_count]
        The body that carries the field; -1: none.
    responds : bool [body_count or 0]
        Whether fields other than charges move the body; none where there are neither fields nor pushes.
    charge : float64 [body_count or 0]
        Of the body, for fields of charges.
    push : float64 [2, body_count or 0, 6]
        Constant force [N] and torque [N m] on the centre of mass, at the beginning and at the end of the frame.
    turns_along : bool [body_count or 0]
        Whether they are along the axes of the body frame, not of the world.
    frame : int64 [1]
        Frames done, for what changes at random.
    changes : int64 [1]
        1: in this frame forces change even where nothing moves.
    face_first : int64 [body_count + 1 or 0]
    face : float64 [face_count, 6]
        Surfaces of the bodies in their frames (``exposed_faces``); none where no field acts by area.
    row : float64 [COLUMNS]
        Workspace: a field as it is in a substep.
    system : float64 [6, 7]
        Workspace: the equations of a body's change of velocity.
    """

    values: np.ndarray
    carrier: np.ndarray
    responds: np.ndarray
    charge: np.ndarray
    push: np.ndarray
    turns_along: np.ndarray
    frame: np.ndarray
    changes: np.ndarray
    face_first: np.ndarray
    face: np.ndarray
    row: np.ndarray
    system: np.ndarray


def packed(fields: tuple[Field, ...]) -> np.ndarray:
    """Rows of fields, float64 [field_count, COLUMNS]."""
    return np.array([field.numbers() for field in fields]).reshape(len(fields), COLUMNS)


def allocate_fields(
    fields: tuple[Field, ...] = (), carriers=(), responds=(), charge=(), push=(), turns_along=()
) -> FieldArrays:
    """Arrays of a simulation's own, as at its beginning.

    Parameters
    ----------
    fields : tuple of Field
    carriers : sequence of int
        As ``FieldArrays.carrier``.
    responds, charge : sequences
        A value a body, or none without fields and pushes.
    push, turns_along : sequences
        Force and torque a body, and whether they are along its own axes; none without pushes.
    """
    rows = packed(fields)
    return FieldArrays(
        values=np.stack([rows, rows]),
        carrier=np.array(carriers, np.int64),
        responds=np.array(responds, np.bool_),
        charge=np.array(charge, np.float64),
        push=np.tile(np.array(push, np.float64).reshape(-1, 6), (2, 1, 1)),
        turns_along=np.array(turns_along, np.bool_),
        frame=np.zeros(1, np.int64),
        changes=np.zeros(1, np.int64),
        face_first=np.zeros(0, np.int64),
        face=np.zeros((0, 6)),
        row=np.zeros(COLUMNS),
        system=np.zeros((6, 7)),
    )


def _check(name, what, value, least=-math.inf):
    if not (math.isfinite(value) and value >= least):
        allowed = "a finite number" if least == -math.inf else f"finite and at least {least:g}"
        raise ModelError(f"{name}: {what} is {value}; it must be {allowed}")
