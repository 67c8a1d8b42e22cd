"""What a frame reports to whoever advances it."""

from dataclasses import dataclass, field, fields

import numpy as np

from .dynamics.motion.frame_impulses import FrameImpulses
from .dynamics.motion.motion_breaks import FrameBreaks
from .dynamics.schedule.frame_record import FrameRecord, counts_of
from .dynamics.schedule.stage_table import STAGES


@dataclass(slots=True)
class JointReport:
    """The joints at the end of a frame.

    Attributes
    ----------
    error_linear, error_angular : float64 [joint_count]
        How far the axes that they hold are off [m], [rad].
    force, torque : float64 [joint_count, 3]
        On body b (on the world, with the sign of what the world gets), at the joint, in world axes, in the last substep
        [N], [N m]; of a broken joint in the one in which it broke.
    broken : bool [joint_count]
    peak_force, peak_torque : float64 [joint_count]
        Largest loads in the frame, as they count for breaking: what hits counts over ``SimulationOptions.impact_time``
        [N], [N m]; of a joint that broke in the frame the ones that broke it.
    peak_stress : float64 [joint_count]
        Of bonds: the largest load in the frame over what it bears; 0 of other joints.
    """

    error_linear: np.ndarray
    error_angular: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    broken: np.ndarray
    peak_force: np.ndarray
    peak_torque: np.ndarray
    peak_stress: np.ndarray


@dataclass(slots=True)
class FrameContacts:
    """What has pushed what in a frame: of its n contacts, the joints and the bodies.

    With m the mass of a body that can be pushed, its momentum has changed in the frame by

        m (v_end - v_start) = forces + sum of the impulses on it + rest

    where impulses are those of contacts, on ``body_b`` and with the other sign on ``body_a``, and those of joints.

    Attributes
    ----------
    position : float64 [n, 3]
        World [m]: the mean of where it pushed in the frame's substeps, by how hard.
    normal : float64 [n, 3]
        Unit, world, from body a to body b.
    impulse : float64 [n, 3]
        On body b, normal part and friction, of the whole frame [N s].
    slip : float64 [n, 3]
        Velocity of b's surface along a's, the mean as of ``position`` [m/s].
    body_a, body_b : int64 [n]
    joint_impulse : float64 [joint_count, 2, 3]
        On body a and on body b [N s]. Joints that could bear what others bear have it as the solver shared it out.
    joint_moment : float64 [joint_count, 3]
        On body b, about the joint [N m s].
    forces : float64 [body_count, 3]
        What gravity, fields and damping gave [N s].
    rest : float64 [body_count, 3]
        What no force and no contact gave (``dynamics.motion.frame_impulses``) [N s].
    """

    position: np.ndarray
    normal: np.ndarray
    impulse: np.ndarray
    slip: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    joint_impulse: np.ndarray
    joint_moment: np.ndarray
    forces: np.ndarray
    rest: np.ndarray

    @property
    def normal_impulse(self) -> np.ndarray:
        """Part of the impulses along the normals, float64 [n] [N s]."""
        return np.einsum("ij,ij->i", self.impulse, self.normal)


# What a report holds as arrays, beside plain values.
PARTS = ("joints", "frame_contacts", "breaks")


@dataclass(slots=True)
class FrameReport:
    """What happened in a frame.

    Attributes
    ----------
    frame : int
        Frames done so far, this one included.
    substeps : int
        Steps that the frame took.
    detection_passes : int
        How often contacts were found and solved for positions, at least once a substep (``dynamics.frame.detection``).
    contacts, islands : int
        Of bodies that are awake, at the frame's end.
    sleeping : int
        Bodies that sleep at the frame's end.
    iterations : int
        Of all solves of the frame.
    missed : int
        Solves that ended above their tolerance; of the position solves of a substep, the last counts.
    in_small_steps : int
        Islands of bodies in motion, counted once a substep, that were moved in small steps, to no tolerance (``auto``).
    fallbacks : int
        Solves that a second method had to take over (``auto``).
    residual : float
        Largest of these solves, relative to its problem's scale.
    worst : str
        Where that was: "Cube on Floor"; empty without contacts.
    max_penetration : float
        Deepest overlap that a substep started with [m].
    kinetic_energy, potential_energy : float
        Of the dynamic bodies at the frame's end [J].
    nanoseconds : list of int
        Time of each of ``STAGES``.
    joints : JointReport or None
        None without joints.
    joint_error : float
        How far the worst joint is open [m].
    broke : list of str
        Joints that broke in this frame.
    lost : list of str
        Bodies whose motion was no number any more in this frame; they are held where they were last.
    activated, deactivated : list of str
        Bodies that have woken in this frame, which had waited; and that were put to waiting.
    let_go, joined : list of str
        Joints that were let go in this frame by what they had held until, and that hold since.
    frame_contacts : FrameContacts or None
        With ``SimulationOptions.contacts``; else None.
    breaks : FrameBreaks or None
        With ``SimulationOptions.breaks``; else None.
    """

    frame: int
    substeps: int
    detection_passes: int
    contacts: int
    islands: int
    sleeping: int
    iterations: int
    missed: int
    in_small_steps: int
    fallbacks: int
    residual: float
    worst: str
    max_penetration: float
    kinetic_energy: float
    potential_energy: float
    nanoseconds: list[int]
    joints: JointReport | None = None
    joint_error: float = 0.0
    broke: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    activated: list[str] = field(default_factory=list)
    deactivated: list[str] = field(default_factory=list)
    let_go: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    frame_contacts: FrameContacts | None = None
    breaks: FrameBreaks | None = None

    @property
    def seconds(self) -> dict[str, float]:
        """Time by stage."""
        return {stage: 1e-9 * time for stage, time in zip(STAGES, self.nanoseconds, strict=True)}

    def as_dict(self) -> dict:
        """Plain values, for JSON."""
        names = [entry.name for entry in fields(self) if entry.name not in ("nanoseconds", *PARTS)]
        return {name: getattr(self, name) for name in names} | {"seconds": self.seconds}


def frame_report(record: FrameRecord, names, frame: int, fallbacks: int) -> FrameReport:
    """The report of a frame from what its kernel has noted.

    Parameters
    ----------
    record : FrameRecord
    names : sequence of str
        Of the bodies.
    frame : int
        Frames done so far, this one included.
    fallbacks : int
    """
    # The second body stands on the first, where one of them is a floor.
    bodies = record.worst_bodies[::-1].tolist()
    # A joint to the world names its body twice.
    worst = [names[body] for body in dict.fromkeys(bodies) if body >= 0]
    kinetic, potential = record.energy.tolist()
    substeps, detection_passes, contacts, islands, sleeping, iterations, missed, in_small_steps = counts_of(record)
    return FrameReport(
        frame=frame,
        substeps=substeps,
        detection_passes=detection_passes,
        contacts=contacts,
        islands=islands,
        sleeping=sleeping,
        iterations=iterations,
        missed=missed,
        in_small_steps=in_small_steps,
        fallbacks=fallbacks,
        residual=float(record.residual[0]),
        worst=" on ".join(worst),
        max_penetration=float(record.penetration[0]),
        kinetic_energy=kinetic,
        potential_energy=potential,
        nanoseconds=record.nanoseconds.tolist(),
    )


def add_lost(report: FrameReport, is_lost: np.ndarray, names, before: np.ndarray) -> np.ndarray:
    """Add to a frame's report who was lost; returns all that are (bool [body_count]), of whom ``before`` is known."""
    report.lost = [names[body] for body in np.flatnonzero(is_lost & ~before)]
    return is_lost.copy()


def joint_report(joint_state) -> JointReport:
    """The joints as their state has them.

    Parameters
    ----------
    joint_state : JointStateArrays
    """
    return JointReport(
        error_linear=joint_state.opening[:, 0].copy(),
        error_angular=joint_state.opening[:, 1].copy(),
        force=joint_state.force[:, :3].copy(),
        torque=joint_state.force[:, 3:].copy(),
        broken=joint_state.broken.copy(),
        peak_force=joint_state.peak[:, 0].copy(),
        peak_torque=joint_state.peak[:, 1].copy(),
        peak_stress=joint_state.peak_stress.copy() if joint_state.peak_stress.size else np.zeros(len(joint_state.peak)),
    )


def add_joints(report: FrameReport, joint_state, names, broken: np.ndarray) -> np.ndarray:
    """Add the joints to a frame's report.

    Parameters
    ----------
    report : FrameReport
        Written.
    joint_state : JointStateArrays
    names : sequence of str
        Of the joints.
    broken : bool [joint_count]
        Which ones had broken before the frame.

    Returns
    -------
    bool [joint_count]
        Which ones have now.
    """
    joints = report.joints = joint_report(joint_state)
    report.joint_error = float(joints.error_linear.max())
    report.broke = [names[joint] for joint in np.flatnonzero(joints.broken & ~broken)]
    return joints.broken


def frame_contacts(impulses: FrameImpulses) -> FrameContacts:
    """The contacts of a frame as its kernel has added them up.

    Parameters
    ----------
    impulses : FrameImpulses
    """
    used = slice(int(impulses.count[0]))
    weight = impulses.weight[used, None]
    normal = impulses.normal[used] / weight
    length = np.sqrt(normal[:, :1] ** 2 + normal[:, 1:2] ** 2 + normal[:, 2:] ** 2)
    return FrameContacts(
        position=impulses.position[used] / weight,
        normal=normal / length,
        impulse=impulses.impulse[used].copy(),
        slip=impulses.slip[used] / weight,
        body_a=impulses.body_a[used].copy(),
        body_b=impulses.body_b[used].copy(),
        joint_impulse=impulses.joint[:, :6].reshape(-1, 2, 3).copy(),
        joint_moment=impulses.joint[:, 6:].copy(),
        forces=impulses.forces.copy(),
        rest=impulses.rest.copy(),
    )
