"""What a ready-made scene consists of."""

from dataclasses import dataclass, field

from ..model.builder import ModelBuilder
from ..model.model import BodyKind, Model

# Blender multiplies the two bodies' values, so this makes 0.5 of a pair.
FRICTION_HALF = 0.5**0.5


@dataclass(frozen=True)
class SceneBody:
    """One body; units and meaning as in ``ModelBuilder.add_body``.

    A kinematic body keeps its velocities for the whole scene.

    Attributes
    ----------
    mesh : tuple of float64 [vertex_count, 3] and int64 [face_count, corner_count], optional
        Of a concave body, whose convex parts ``shape`` holds: what is seen, and what Blender is given.
    color : tuple of float
        Red, green, blue in [0, 1], for pictures.
    part_colors : tuple of such colors, optional
        Of a compound's parts, where they differ.
    """

    name: str
    shape: object
    mass: float = 1.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    friction: float = FRICTION_HALF
    restitution: float = 0.0
    kind: BodyKind = BodyKind.DYNAMIC
    linear_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mesh: tuple | None = None
    color: tuple[float, float, float] = (0.6, 0.6, 0.6)
    part_colors: tuple | None = None


@dataclass(frozen=True)
class Scene:
    """A scene as data.

    Attributes
    ----------
    name, title : str
    bodies : list of SceneBody
    frame_count : int
        Frames that show what it is about.
    frame_rate : float
        [1/s].
    gravity : tuple of float
        [m/s^2].
    camera, target : tuple of float
        Where the camera stands, and the point it looks at.
    """

    name: str
    title: str
    bodies: list[SceneBody]
    frame_count: int
    camera: tuple[float, float, float]
    target: tuple[float, float, float]
    frame_rate: float = 24.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    linear_damping: float = field(default=0.0)
    angular_damping: float = field(default=0.0)

    def build_model(self) -> Model:
        """The scene as a model."""
        builder = ModelBuilder(gravity=self.gravity)
        for body in self.bodies:
            builder.add_body(
                shape=body.shape,
                mass=body.mass,
                position=body.position,
                orientation=body.orientation,
                kind=body.kind,
                name=body.name,
                friction=body.friction,
                restitution=body.restitution,
                linear_damping=self.linear_damping,
                angular_damping=self.angular_damping,
                linear_velocity=body.linear_velocity,
                angular_velocity=body.angular_velocity,
            )
        return builder.build()


def floor(half_width: float = 20.0) -> SceneBody:
    """A static sheet at z = 0."""
    from ..geometry.shapes import Box

    return SceneBody(
        name="Floor",
        shape=Box((half_width, half_width, 0.0)),
        kind=BodyKind.STATIC,
        color=(0.32, 0.34, 0.37),
    )
