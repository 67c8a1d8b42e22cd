"""Meshes that deform: their vertices move at constant velocity through a frame, and push with their surface.

Between two substeps the vertices go on, and the tree is fitted to them. Contacts on such a mesh are made anew in every
substep; their ``surface_velocity`` is that of the surface beyond the body's own motion.
"""

from ...compiled.kernel import kernel, subkernel
from .mesh_query import first_row
from .mesh_tree import refit_tree


@subkernel
def move_meshes(meshes, polytopes, h):
    """Move the vertices of all meshes that deform by a substep.

    Parameters
    ----------
    meshes : MeshTables
    polytopes : HullArrays
        The bounds of the meshes' rows, which are its last, are written.
    h : float
        [s]
    """
    for mesh in range(len(meshes.speed)):
        is_moving = meshes.speed[mesh] > 0.0
        meshes.has_deformed[mesh] = is_moving
        if is_moving:
            for row in range(meshes.vertex_start[mesh], meshes.vertex_start[mesh + 1]):
                for i in range(3):
                    meshes.vertex[row, i] += h * meshes.vertex_velocity[row, i]
            fit_one(meshes, polytopes, mesh, h)


@kernel
def fit_mesh(meshes, polytopes, mesh, h):
    """Fit a mesh's tables, and its bounds along a substep, to its vertices and their velocities."""
    fit_one(meshes, polytopes, mesh, h)


@subkernel
def fit_one(meshes, polytopes, mesh, h):
    """As ``fit_mesh``."""
    refit_tree(meshes, mesh)
    row = first_row(meshes, polytopes, mesh)
    root = meshes.node_start[mesh]
    way = h * meshes.speed[mesh]
    for i in range(3):
        polytopes.bounds[row, 0, i] = meshes.box[root, i] - way
        polytopes.bounds[row, 1, i] = meshes.box[root, 3 + i] + way


@subkernel
def surface_velocity(meshes, mesh, number, point):
    """Velocity of a point on a triangle of a mesh, in its frame and beyond its body's motion [m/s]."""
    vertex, velocity, triangle = meshes.vertex, meshes.vertex_velocity, meshes.triangle
    base, row = meshes.vertex_start[mesh], meshes.triangle_start[mesh] + number
    a, b, c = base + triangle[row, 0], base + triangle[row, 1], base + triangle[row, 2]
    uu, uv, vv, up, vp = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        u, v = vertex[b, i] - vertex[a, i], vertex[c, i] - vertex[a, i]
        p = point[i] - vertex[a, i]
        uu += u * u
        uv += u * v
        vv += v * v
        up += u * p
        vp += v * p
    area = uu * vv - uv * uv
    if area <= 0.0:
        # A triangle that has lost its area.
        return velocity[a, 0], velocity[a, 1], velocity[a, 2]
    of_b, of_c = (vv * up - uv * vp) / area, (uu * vp - uv * up) / area
    of_a = 1.0 - of_b - of_c
    return (
        of_a * velocity[a, 0] + of_b * velocity[b, 0] + of_c * velocity[c, 0],
        of_a * velocity[a, 1] + of_b * velocity[b, 1] + of_c * velocity[c, 1],
        of_a * velocity[a, 2] + of_b * velocity[b, 2] + of_c * velocity[c, 2],
    )
