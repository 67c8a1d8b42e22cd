"""What glue between pieces bears, by what they are made of [N/m^2]. Loads no bpy and no Numba.

A crack begins where the largest stress at the rim of an area is more than this; moments count by the area's own shape.
Figures are those of the material or of its joint at rest, of standards for building where there are some:

- Concrete C25/30: mean tensile strength f_ctm of EN 1992-1-1, table 3.1. Shear of plain concrete without a push is as
  much as tension, by its equation 12.5.
- Mortar: clay bricks in general purpose mortar M5: flexural strength f_xk1 across the bed joints of EN 1996-1-1, 3.6.4,
  and initial shear strength f_vk0, table 3.4.
- Glass: characteristic bending strength of annealed float glass, EN 572-1; brittle, so as much in shear.
- Wood C24: tension along the grain and shear of EN 338, table 1; torsion as shear.
- Dry stone: joints without mortar bear no pull and no shear but by friction (Lourenco and Ramos 2004,
  Characterization of cyclic behavior of dry masonry joints, find no cohesion). A little, as of earth and wedged chips,
  lets a wall stand until it is hit; it is no measured figure.
"""

# Tension, shear, torsion.
STRENGTHS = {
    "DRY_STONE": (5e3, 1e4, 1e4),
    "MORTAR": (1e5, 2e5, 2e5),
    "CONCRETE": (2.6e6, 2.6e6, 2.6e6),
    "GLASS": (45e6, 45e6, 45e6),
    "WOOD": (14.5e6, 4e6, 4e6),
}
# Names and descriptions of these.
MATERIALS = (
    ("DRY_STONE", "Dry Stone", "Stones without mortar: hardly more than their weight and friction hold them"),
    ("MORTAR", "Mortar", "Bricks laid in common mortar"),
    ("CONCRETE", "Concrete", "Plain concrete without steel"),
    ("GLASS", "Glass", "A pane of float glass"),
    ("WOOD", "Wood", "Softwood along its grain"),
    ("AREA", "By Area", "Set strengths of your own for each square metre of a bond"),
    ("BOND", "By Bond", "Give all bonds the same strengths, whatever their areas are"),
)
