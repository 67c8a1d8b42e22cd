"""What a caller gives for a body or joint, checked: a value as it is kept, or a ``ModelError`` that names the body."""

import math

import numpy as np

from .errors import ModelError
from .matter import CombineRule


def finite_vector(name, what, value, length) -> np.ndarray:
    """So many finite numbers."""
    try:
        vector = np.array(value, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    # Number by number: of so few NumPy takes longer.
    if vector.shape != (length,) or not all(map(math.isfinite, vector.tolist())):
        raise ModelError(f"{name}: {what} is {value!r}; it must be {length} finite numbers")
    return vector


def unit_quaternion(name, value) -> np.ndarray:
    """An orientation (w, x, y, z), normalised."""
    quaternion = finite_vector(name, "orientation", value, 4)
    length = math.sqrt(quaternion @ quaternion)
    if length == 0.0:
        raise ModelError(f"{name}: orientation is zero; it must be a quaternion (w, x, y, z)")
    return quaternion / length


def mass_of(name, shape, mass, density) -> float:
    """What is given, or what the shape weighs at a density [kg]."""
    if density is None:
        return number_in(name, "mass", 1.0 if mass is None else mass, lower=0.0, lower_open=True)
    if mass is not None:
        raise ModelError(f"{name}: mass and density are given; it must be one of them")
    number_in(name, "density", density, lower=0.0, lower_open=True)
    volume = 0.0 if shape.is_flat else shape.mass_properties().volume
    if not volume > 0.0:
        raise ModelError(f"{name}: density is given, and the shape has no volume; it must have one, or a mass")
    return number_in(
        name, f"density {density:g} times the volume {volume:g}", density * volume, lower=0.0, lower_open=True
    )


def own_center(name, value) -> np.ndarray:
    """A point of the user frame; NaN for the centre of the volume."""
    if isinstance(value, str):
        places = {"volume": np.nan, "origin": 0.0}
        if value not in places:
            raise ModelError(f"{name}: center_of_mass is {value!r}; it must be 'volume', 'origin' or a point")
        return np.full(3, places[value])
    return finite_vector(name, "center of mass", value, 3)


def combine_rule(name, what, value) -> CombineRule:
    """How the values of two bodies combine, by its name."""
    names = [rule.name.lower() for rule in CombineRule]
    if value not in names:
        raise ModelError(f"{name}: {what} is {value!r}; it must be one of {', '.join(names)}")
    return CombineRule(names.index(value))


def breaking(name, what, value) -> float:
    """Largest force or torque; infinite where none is given."""
    return np.inf if value is None else number_in(name, what, value, lower=0.0, may_be_infinite=True)


def number_in(name, what, value, *, lower, upper=np.inf, lower_open=False, may_be_infinite=False) -> float:
    """A finite number between two bounds, the lower of which may be excluded, or infinity where that may be."""
    number = float(value)
    if may_be_infinite and number == np.inf:
        return number
    if not math.isfinite(number) or number > upper or number < lower or (lower_open and number == lower):
        allowed = f"above {lower:g}" if lower_open else f"at least {lower:g}"
        if math.isfinite(upper):
            allowed = f"from {lower:g} to {upper:g}"
        raise ModelError(f"{name}: {what} is {number:g}; it must be finite and {allowed}")
    return number
