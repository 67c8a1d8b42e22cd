"""Concave bodies that move: their meshes as solids, in convex parts.

Decomposing takes seconds to minutes per mesh, so a mesh that is new may be left for later: until then the body is its
convex hull, and the export says which meshes are to be decomposed (``pending``) before the next one. A child process
does it, so that Blender goes on, shows the progress, and can stop it.
"""

from dataclasses import dataclass, field

import numpy as np

from ...solver_core.geometry.decomposition import (
    RATIO_CONVEX,
    Decomposition,
    DecompositionCache,
    DecompositionError,
    DecompositionSettings,
    coacd_version,
    decompose_beside,
    hulls_of_parts,
)
from ...solver_core.geometry.solid_meshes import solid_mesh
from ...solver_core.model.compound import Compound
from .. import runtime
from .self_crossings import self_crossings

# Meshes that CoACD could not decompose in this session, and why.
_failures: dict[str, str] = {}
_cache: DecompositionCache | None = None


def cache() -> DecompositionCache:
    """The session's parts, with the folder that keeps them for the next one."""
    global _cache
    if _cache is None:
        _cache = DecompositionCache(runtime.parts_folder())
    return _cache


def decompose(decompositions):
    """Find the parts of meshes and keep them, or why there are none; closing this generator ends the work immediately.

    Parameters
    ----------
    decompositions : list of Decomposition

    Yields
    ------
    int
        How many are done: before the work begins, and about twenty times a second.

    Returns
    -------
    str or None
        Why Blender itself had to do it, which freezes for each mesh.
    """
    done, trouble = 0, None
    yield done
    try:
        for outcome in decompose_beside(decompositions):
            if outcome is not None:
                _keep(decompositions[done], outcome)
                done += 1
            yield done
    except OSError as error:
        trouble = " ".join(str(error).split())
    for decomposition in decompositions[done:]:
        yield done
        try:
            _keep(decomposition, decomposition.run())
        except DecompositionError as error:
            _keep(decomposition, error)
        done += 1
    return trouble


def _keep(decomposition, outcome):
    if isinstance(outcome, DecompositionError):
        _failures[decomposition.key] = str(outcome)
    else:
        cache().keep(decomposition, outcome)


@dataclass
class ConcaveReader:
    """Makes shapes of meshes that may be concave; equal meshes once.

    Attributes
    ----------
    waits : bool
        Decompose new meshes now; else they become ``pending``.
    pending : dict of str to (str, Decomposition)
        By key: the object that was met first, and its mesh.
    """

    waits: bool
    pending: dict = field(default_factory=dict)
    _shapes: dict = field(default_factory=dict)
    _surfaces: dict = field(default_factory=dict)

    def surface_of(self, shape):
        """Vertices and triangles, in the user frame, of the mesh that a shape's convex parts stand for; or None."""
        return self._surfaces.get(id(shape))

    def read(self, ob, points, triangles, hull):
        """Shape of a mesh whose convex hull has a volume.

        Parameters
        ----------
        ob : bpy.types.Object
            For its name and its settings.
        points : float64 [point_count, 3]
            In the user frame, scaled.
        triangles : int64 [triangle_count, 3]
        hull : ConvexHull
            Of the points.

        Returns
        -------
        shape : ConvexHull or Compound
        notes : list of (str, str)
        """
        settings = settings_of(ob)
        key = points.tobytes(), triangles.tobytes(), settings
        if key not in self._shapes:
            self._shapes[key] = self._make(ob.name, points, triangles, hull, settings)
        return self._shapes[key]

    def _make(self, name, points, triangles, hull, settings):
        solid = solid_mesh(points, triangles)
        crossings, notes = self_crossings(solid.vertices, solid.triangles, "all that it encloses is solid")
        notes = [*_mesh_notes(solid), *notes]
        # Where a mesh encloses something twice, its volume and mass count that twice.
        properties = None if crossings else solid.properties
        if properties is not None and properties.volume >= (1.0 - RATIO_CONVEX) * hull.mass_properties().volume:
            return hull, notes
        decomposition, center, size = Decomposition.of(solid.vertices, solid.triangles, settings)
        try:
            parts = self._parts(name, decomposition)
            if parts is None:
                return hull, [*notes, ("info", "is concave: a bake first makes convex parts of it")]
            hulls = hulls_of_parts(parts, center, size)
        except DecompositionError as error:
            return hull, [*notes, ("warning", f"is concave, but simulated as its convex hull: {error}")]
        if decomposition.is_remade:
            notes.append(
                (
                    "info",
                    f"has {len(solid.triangles):,} triangles: its parts are made from a grid of {settings.grid} cells",
                )
            )
        if properties is None:
            why = "passes through itself" if crossings else "is not closed"
            notes.append(("info", f"its mass is that of its convex parts, because its mesh {why}"))
        count = f"{len(hulls)} convex parts" if len(hulls) > 1 else "1 convex part"
        notes.append(("info", f"is concave: simulated as {count}"))
        compound = Compound(hulls, properties)
        # the shape stays in ``_shapes``, so its id stays its own
        self._surfaces[id(compound)] = solid.vertices, solid.triangles
        return compound, notes

    def _parts(self, name, decomposition):
        """Parts of a mesh, or None if they are pending."""
        parts = decomposition.convex_pieces()
        parts = cache().find(decomposition) if parts is None else parts
        if parts is not None:
            return parts
        if coacd_version() is None:
            raise DecompositionError("CoACD is not installed (docs/baking.md, Concave bodies)")
        if decomposition.key not in _failures:
            if not self.waits:
                self.pending.setdefault(decomposition.key, (name, decomposition))
                return None
            for _ in decompose([decomposition]):
                pass
        if decomposition.key in _failures:
            raise DecompositionError(_failures[decomposition.key])
        return cache().find(decomposition)


def settings_of(ob) -> DecompositionSettings:
    """What the panel holds; the defaults where Cairn is not registered."""
    values = getattr(ob, "cairn", None)
    if values is None:
        return DecompositionSettings()
    return DecompositionSettings(
        # The panel holds single precision: 0.05 is meant where 0.0500000007 is stored.
        concavity=float(f"{values.concavity:.6g}"),
        maximal_parts=values.maximal_parts,
        grid=values.repair_resolution,
    )


def _mesh_notes(solid):
    """What was found wrong with a mesh, and what was done."""
    notes = [("info", f"its mesh: {note}") for note in solid.cleaning_notes]
    if solid.was_inverted:
        notes.append(("info", "its mesh is inside out: its faces were turned for the simulation"))
    if solid.was_mixed:
        notes.append(("info", "its faces look in different directions: they were turned outwards for the simulation"))
    if solid.holes_filled:
        notes.append(("info", "its mesh has small holes: they were closed for the simulation"))
    if solid.open_edges:
        notes.append(("info", "its mesh is open: it is simulated as a shell, made anew from a grid"))
    if solid.crowded_edges:
        notes.append(("warning", "its mesh has edges of more than two faces: it was made anew from a grid"))
    return notes


def mesh_triangles(mesh) -> np.ndarray:
    """Triangles of a mesh's faces, as vertex indices [triangle_count, 3]."""
    if hasattr(mesh, "calc_loop_triangles"):
        mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3).astype(np.int64)
