"""Scene settings as artists produce them: each kind is a function that changes the plain scene, and not its physics.

The plain scene: a ball and a tilted rock fall on a floor beside a driven pusher. A kind is marked ``same`` (the motion
is that of the plain scene), or told with words that a note or an error has to have.
"""

from dataclasses import dataclass, field

from mathutils import Euler

LAST = 8
ROCK = Euler((0.3, 0.2, 0.1))
KINDS = {}


@dataclass
class Kind:
    """A kind of scene.

    Attributes
    ----------
    make : function
        Called with the ``SceneMaker`` and, if it takes two arguments, with an empty folder.
    same : bool
        Whether the motion is that of the plain scene.
    words : tuple of str
        Each has to stand in what a bake says.
    names : dict
        Of bodies that have others here than in the plain scene: name, or (name, library).
    shift : int
        How many frames later it begins.
    reopen : bool
        Saved and opened before the bake, and again after it.
    error : bool
        Whether a bake is refused.
    """

    make: object
    same: bool
    words: tuple = ()
    names: dict = field(default_factory=dict)
    shift: int = 0
    reopen: bool = False
    error: bool = False


def kind(*words, same=True, **more):
    def add(function):
        KINDS[function.__name__] = Kind(function, same, words, **more)
        return function

    return add


def refused(*words, **more):
    return kind(*words, same=False, error=True, **more)


def plain(m):
    """The plain scene; returns its bodies."""
    m.scene.frame_start, m.scene.frame_end = 1, LAST
    m.world.point_cache.frame_start, m.world.point_cache.frame_end = 1, LAST
    ball = m.body("Ball", shape="SPHERE", location=(0, 0, 0.62))
    rock = m.body("Rock", shape="CONVEX_HULL", location=(3, 0, 0.9), rotation_euler=ROCK)
    floor = m.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    pusher = m.body("Pusher", type="ACTIVE", shape="BOX", location=(-1.2, 0, 0.6), settings={"kinematic": True})
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), LAST: (-0.6, 0, 0.6)})
    return ball, rock, floor, pusher


def bodies(m):
    return [m.scene.objects.get(name) for name in ("Ball", "Rock", "Floor", "Pusher")]
