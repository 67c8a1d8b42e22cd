"""A bond: glue between two bodies on a flat area, which bears so much in tension and in shear."""

from dataclasses import dataclass

from .axis import LOCKED, check_size, check_strength
from .coordinates import Coordinate, held_point, turns


@dataclass(frozen=True, kw_only=True)
class Bond:
    """The two bodies move as one until the glue between them breaks.

    The joint's frame is at the centre of the glued area, its x axis along the area's normal from body a to body b, y
    and z along its principal axes. A thin layer of glue between rigid bodies bears stresses that are linear over the
    area, so it breaks where the largest of them, at the area's rim, is that which the glue bears
    (docs/decisions/49-glue.md):

        N / tension + |M_y| / bending_y + |M_z| / bending_z > 1    or    V / shear + |T| / torsion > 1

    with the pull N (a push counts against the moments), the shear force V, and the moments T about x, M_y and M_z.

    Attributes
    ----------
    tension, shear : float
        [N]; infinite for what never breaks.
    torsion, bending_y, bending_z : float
        [N m], likewise.
    area : float
        [m^2]; 0: not known.
    gyration_y, gyration_z : float
        Radii of gyration of the area about y and z [m]. Where several bonds hold the same pieces, each bears as much as
        a layer of glue there would: by its area, and moments by its second moments. Without, all are as stiff.
    """

    tension: float
    shear: float
    torsion: float
    bending_y: float
    bending_z: float
    area: float = 0.0
    gyration_y: float = 0.0
    gyration_z: float = 0.0
    may_end_at_world = True

    def __post_init__(self):
        for name, value in zip(("tension", "shear", "torsion", "bending_y", "bending_z"), self.strengths, strict=True):
            check_strength(name, value)
        for name in ("area", "gyration_y", "gyration_z"):
            check_size(name, getattr(self, name))

    @property
    def strengths(self) -> tuple[float, float, float, float, float]:
        """Tension, shear, torsion, and bending about y and z."""
        return self.tension, self.shear, self.torsion, self.bending_y, self.bending_z

    def coordinates(self) -> list[Coordinate]:
        """Six, locked."""
        return [*held_point(), *turns((LOCKED, LOCKED, LOCKED))]
