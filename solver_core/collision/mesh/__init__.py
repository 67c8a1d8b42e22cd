"""Contacts of triangle meshes, still or deforming, with convex shapes.

In: ``MeshTables`` with the mesh and what is known of the pair (paths, centres, last normals), and the other shape. Out:
rows of ``MeshTables.contact`` in the mesh's frame, which ``append_mesh_contacts`` writes among the step's contacts.
"""
