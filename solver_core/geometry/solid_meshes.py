"""Triangle meshes as solids that move: mended, with their exact mass properties.

A mesh bounds a solid where it is closed: every edge lies in two triangles, which run through it in opposite
directions. What people model often is not. ``solid_mesh`` mends what can be mended without a guess (``mesh_repair``),
and says what it has found.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .mesh_repair import clean, close_small_holes, count_edges, orient
from .points import RATIO_SAME_POINT
from .volume_integrals import MassProperties, enclosed_volume


@dataclass(frozen=True, eq=False)
class SolidMesh:
    """A mended mesh, and what was found out about it.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
        Distinct, all of them used.
    triangles : int64 [triangle_count, 3]
        Counterclockwise seen from outside if ``is_closed``.
    cleaning_notes : tuple of str
        What ``mesh_repair.clean`` did.
    holes_filled : int
        Small holes that were covered, each by a fan about its middle.
    open_edges : int
        Edges of one triangle only, of larger holes.
    crowded_edges : int
        Edges of more than two triangles.
    was_inverted : bool
        All of the mesh, or a closed part of it, was inside out.
    was_mixed : bool
        Neighbouring triangles looked in different directions.
    properties : MassProperties or None
        Of the solid; None if the mesh is not closed or has no volume.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    cleaning_notes: tuple[str, ...]
    holes_filled: int
    open_edges: int
    crowded_edges: int
    was_inverted: bool
    was_mixed: bool
    properties: MassProperties | None

    @property
    def is_closed(self) -> bool:
        """Whether it bounds a solid."""
        return self.properties is not None


def solid_mesh(vertices: ArrayLike, triangles: ArrayLike) -> SolidMesh:
    """Clean a mesh, cover small holes, and turn all of it outwards if it is closed then.

    Parameters
    ----------
    vertices : array-like [given_vertex_count, 3]
        Finite.
    triangles : array-like of int [given_triangle_count, 3]

    Returns
    -------
    SolidMesh
    """
    mesh = clean(np.asarray(vertices, float), np.asarray(triangles, np.int64))
    corners, faces, holes_filled = mesh.vertices, mesh.triangles, 0
    open_edges, crowded_edges = count_edges(faces)
    if open_edges and not crowded_edges:
        corners, faces, holes_filled = close_small_holes(corners, faces)
        open_edges = 0 if holes_filled else open_edges
    was_mixed = was_inverted = False
    properties = None
    if len(faces) and not (open_edges or crowded_edges):
        oriented = orient(corners, faces)
        faces = oriented.triangles
        was_mixed = oriented.turned > 0
        was_inverted = oriented.parts_inside_out > 0 and not was_mixed
        # What is one-sided was cut, and bounds nothing. Two sheets back to back close a mesh and hold nothing.
        found = solid_properties(corners, faces)
        holds_something = found.volume > RATIO_SAME_POINT * np.ptp(corners, axis=0).max() ** 3
        properties = found if oriented.is_closed.all() and holds_something else None
    return SolidMesh(
        vertices=corners,
        triangles=np.ascontiguousarray(faces),
        cleaning_notes=tuple(mesh.notes),
        holes_filled=holes_filled,
        open_edges=open_edges,
        crowded_edges=crowded_edges,
        was_inverted=was_inverted,
        was_mixed=was_mixed,
        properties=properties,
    )


def solid_properties(vertices: np.ndarray, triangles: np.ndarray) -> MassProperties:
    """Mass properties of the solid that a closed mesh bounds.

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
        Counterclockwise seen from outside.

    Returns
    -------
    MassProperties
    """
    return enclosed_volume(vertices[triangles], 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))
