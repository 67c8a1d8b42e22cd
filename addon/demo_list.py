"""The ready-made scenes as menus show them: their names, and what happens in each. Loads neither bpy nor Numba."""

# Name in ``solver_core.scenes.SCENES``, title, and what an animator sees; a group for each kind of scene.
# The scenes cannot be asked here: they would load Numba. test_add_menu.py compares the names.
DEMO_GROUPS = (
    (
        ("stack", "Stack of Boxes", "Boxes of equal weight on top of each other stand"),
        ("heavy", "Heavy Box on a Stack", "A box far heavier than those below it rests on them; the stack stands"),
        ("bricks", "Brick Wall", "A wall of loose bricks in running bond stands"),
        ("pyramid", "Pyramid of Boxes", "Boxes in one plane, each on two others, stand"),
        ("arch", "Stone Arch", "Loose stones without mortar stand as an arch"),
        ("cards", "House of Cards", "Three storeys of thin cards that lean on each other stand"),
    ),
    (
        ("wall", "Brick Wall, Hit by a Ball", "A heavy ball flies into a wall of loose bricks"),
        ("dominoes", "Dominoes", "A curved row of dominoes falls, each one on the next"),
        ("pile", "Heap of Boxes", "Boxes fall into a heap and come to rest"),
        ("ball_pool", "Pool of Balls", "Balls fall into a pool and come to rest"),
        ("boulders", "Boulders in a Gully", "Rocks slide and roll down a gully, which is a mesh"),
    ),
    (
        ("cradle", "Newton's Cradle", "A ball hits a row of others, and the last one leaves"),
        ("tops", "Spinning Tops", "Tops spin on their tips and precess"),
        ("tumbling", "Tumbling T-Handle", "A handle that floats without gravity turns over again and again"),
    ),
    (
        ("gears", "Gear Train", "Toothed wheels turn each other by their teeth alone, on pins through their holes"),
        ("chain", "Chain of Rings", "Concave rings that hold each other swing from a fixed one"),
    ),
    (
        ("bridge", "Hanging Bridge", "A heavy box lands on a bridge of jointed planks"),
        ("wrecking_ball", "Wrecking Ball", "A ball of 1,200 kg on a light chain swings into a brick wall"),
        ("ragdoll", "Figure on Stairs", "A figure whose joints have a person's limits tumbles down the stairs"),
        ("drawbridge", "Drawbridge", "A drawbridge falls into its chains, and a ball rolls over it"),
        ("car", "Car over Bumps", "A car with motors and sprung wheels drives over bumps into boxes"),
        ("clock", "Clock", "A pendulum and a pair of pallets let a wheel go on tooth by tooth"),
        ("crane", "Crane", "Servos lift a load on a chain, turn, and set it down"),
        ("walker", "Walker on a Bridge", "Servos turn the legs of a walker that crosses a hanging bridge"),
        ("standing_snake", "Arch of Hinged Links", "Six hinged links stand as an arch"),
        ("hanging_snake", "Swinging Links", "Six hinged links are let go, and swing and fold"),
    ),
)
DEMOS = tuple(demo for group in DEMO_GROUPS for demo in group)
