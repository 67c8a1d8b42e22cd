"""What joints carry from substep to substep, and what a substep notes of them."""

from typing import NamedTuple

import numpy as np

from ...model.joints.joint_arrays import JointArrays

# So many places of hits in a substep are told apart; beyond, all bonds count as near.
HIT_PLACES = 64


class JointStateArrays(NamedTuple):
    """State of all joints.

    Attributes
    ----------
    enabled, broken : bool [joint_count]
    target_speed, target_position : float64 [joint_row_count]
        Of motors; the position is NaN where it is no servo, and the speed of one is what it sets itself.
    target_rate, last_rate : float64 [joint_row_count]
        Of servos: how fast the position goes on in this frame [m/s, rad/s], and how fast it went in the last one.
    spring_stiffness, spring_damping : float64 [joint_row_count]
        Of springs and soft ranges, as ``JointArrays`` has them at the start.
    largest : float64 [joint_row_count]
        Force of a motor or of friction [N, N m], likewise.
    breaking : float64 [joint_count, 2]
        Largest force and torque [N, N m], likewise.
    coupling : float64 [joint_row_count, 6]
        Of a servo's joint: rows of a Cholesky factor, of what is held and of the servo.
    push : float64 [joint_row_count, 3]
        Of servos: where it last was, by how much what pushes it changed its speed in a substep there, and how that
        changes with the way; NaN, 0, 0 at first.
    angle : float64 [joint_row_count, 2]
        Numbers of the coordinates at the substep's start, counted beyond full turns (``value_of``).
    side : float64 [joint_row_count]
        Of ranges: 1 at the lower limit, -1 at the upper.
    sheet : float64 [joint_row_count, 2]
        Of Euler's angles at the substep's start and end: -1 where the second one is beyond a quarter turn, else 1.
    impulse : float64 [joint_row_count]
        Of the last position solve [N s].
    change : float64 [joint_row_count]
        What the last velocity solve has added to it [N s].
    start, aim : float64 [joint_row_count]
        Of a substep: error of the coordinate at its start, and where it is to be at its end [m]; of a servo the start
        is the coordinate.
    end_error : float64 [joint_row_count]
        Of the coordinate at the end poses [m].
    fall : float64 [1]
        Speed that gravity gives in a substep [m/s].
    time_left : float64 [1]
        Until the end of the frame, when servos are to be where they are aimed at [s].
    given : float64 [joint_row_count]
        Impulses that bodies got besides those of the velocity solve's rows [N s].
    block, island : int64 [joint_count]
        The joint's block of rows; -1 where it has none; and its island.
    joint_of_block : int64 [joint_count]
        The joints of the blocks behind the contacts.
    is_held : bool [body_count]
        Whether a joint that acts holds the body; like all of bodies or islands below, empty without joints.
    ring, lowest : int64 [body_count]
        The next body of those that joints connect; a body that leads to the lowest of them.
    share : float64 [body_count]
        1/2 of bodies that move by the mean of their velocities and 1 of those that go by END, as they last did.
    end_position, end_orientation : float64 [body_count, 3], [body_count, 4]
        Poses at the substep's end.
    pose_position, pose_orientation : float64 [body_count, 3], [body_count, 4]
        Poses at which forces act in the position solve.
    guess : float64 [body_count, 6]
        Velocities at which these poses, and stiffnesses, were taken.
    stiffness : float64 [body_count, 6]
        Of the body's turns, by the forces at it [N m s]: xx, yy, zz, yz, xz, xy.
    gain, last_gain : float64 [body_count, 6]
        By how much a body's velocity is guessed to change in a substep, and by how much it has in the last one.
    own_inertia, own_velocity : float64 [body_count, 9], [body_count, 6]
        The body's own inverse inertia and free velocity, where the solve has others.
    is_due : bool [body_count]
        By island: its joints are to be corrected.
    asks_at_end : bool [body_count]
        By island: corrections ask for errors of the end (``dynamics.joints.joint_ends``).
    is_slow : bool [body_count]
        By island: corrections with the rows of the middle would take several more.
    was_swept : bool [body_count]
        By island: its contacts are those of sweeps around exact joints, and stay as they are in corrections.
    has_no_end : bool [body_count]
        By island: rows of the end contradict each other, in this pass.
    way : int64 [body_count]
        By island: how its joints are corrected now (``dynamics.joints.joint_corrections``).
    off, error : float64 [body_count]
        By island: the largest error of its joints, over what is allowed; and the least of that and its motion's since
        the way in which it is solved has changed.
    least, least_off : float64 [body_count]
        By island: the least such error of all corrections by Newton's method, and what joints were off there; infinite
        where there is none.
    stale : int64 [body_count]
        By island: corrections in turn without a gain.
    starts_open : bool [body_count]
        By island: joints are open at the substep's start, so they close by and by.
    is_beyond : bool [body_count]
        By island: coordinates are beyond their limits at the substep's start; poses lead them back.
    is_led : int8 [body_count]
        By island: the bodies' poses were led elsewhere than the solve had them, and what for
        (``dynamics.joints.pose_correction``).
    opening : float64 [joint_count, 2]
        How far held coordinates are off [m, rad].
    force : float64 [joint_count, 6]
        Force and torque of the substep on body b [N, N m].
    steady : float64 [joint_count, 6]
        The same of the last substep in which nothing hit what is joined.
    hit_impulse : float64 [joint_count, 2, 6]
        What hits gave beyond that, in the last substep and in those before it, as far as that counts [N s, N m s].
    handed_on : float64 [joint_count, 12]
        Of what broke in this substep: the impulse on body b that it gave until then, about the joint, and the angular
        impulses of that about the centres of a and of b [N s, N m s].
    load, peak : float64 [joint_count, 2]
        Force and torque that count for breaking, of the substep, and the largest of the frame [N, N m].
    stress, peak_stress : float64 [joint_count or 0]
        Of bonds: how many times what it bears the load is, in the substep, and the most of the frame. Empty where there
        are no bonds.
    spread : float64 [joint_count or 0]
        Of bonds: how many times the time of a hit what hits takes to reach it.
    bond_stiffness : float64 [joint_row_count or 0]
        How stiff bonds' rows are, over what they are in other joints; written where it is read.
    hit_count, hit_island : int64 [1], [HIT_PLACES or 0]
        Where something hits in this substep: how many places, and their islands.
    hit_place : float64 [HIT_PLACES or 0, 3]
        [m]
    is_hit : bool [body_count]
        By island: something hits it in this substep.
    worst : float64 [body_count]
        By island: the largest load of a joint over what it bears.
    """

    enabled: np.ndarray
    broken: np.ndarray
    target_speed: np.ndarray
    target_position: np.ndarray
    target_rate: np.ndarray
    last_rate: np.ndarray
    spring_stiffness: np.ndarray
    spring_damping: np.ndarray
    largest: np.ndarray
    breaking: np.ndarray
    coupling: np.ndarray
    push: np.ndarray
    angle: np.ndarray
    side: np.ndarray
    sheet: np.ndarray
    impulse: np.ndarray
    change: np.ndarray
    start: np.ndarray
    aim: np.ndarray
    end_error: np.ndarray
    fall: np.ndarray
    time_left: np.ndarray
    given: np.ndarray
    block: np.ndarray
    island: np.ndarray
    joint_of_block: np.ndarray
    is_held: np.ndarray
    ring: np.ndarray
    lowest: np.ndarray
    share: np.ndarray
    end_position: np.ndarray
    end_orientation: np.ndarray
    pose_position: np.ndarray
    pose_orientation: np.ndarray
    guess: np.ndarray
    stiffness: np.ndarray
    gain: np.ndarray
    last_gain: np.ndarray
    own_inertia: np.ndarray
    own_velocity: np.ndarray
    is_due: np.ndarray
    asks_at_end: np.ndarray
    is_slow: np.ndarray
    was_swept: np.ndarray
    has_no_end: np.ndarray
    way: np.ndarray
    off: np.ndarray
    error: np.ndarray
    least: np.ndarray
    least_off: np.ndarray
    stale: np.ndarray
    starts_open: np.ndarray
    is_beyond: np.ndarray
    is_led: np.ndarray
    opening: np.ndarray
    force: np.ndarray
    steady: np.ndarray
    hit_impulse: np.ndarray
    handed_on: np.ndarray
    load: np.ndarray
    peak: np.ndarray
    stress: np.ndarray
    peak_stress: np.ndarray
    spread: np.ndarray
    bond_stiffness: np.ndarray
    hit_count: np.ndarray
    hit_island: np.ndarray
    hit_place: np.ndarray
    is_hit: np.ndarray
    worst: np.ndarray


def allocate_joint_state(joints: JointArrays) -> JointStateArrays:
    """Joints that have not acted yet."""
    count, rows = joints.joint_count, joints.row_count
    bodies = len(joints.is_jointed) if count else 0
    return JointStateArrays(
        enabled=joints.enabled.copy(),
        broken=np.zeros(count, np.bool_),
        target_speed=joints.target_speed.copy(),
        target_position=joints.target_position.copy(),
        target_rate=np.zeros(rows),
        last_rate=np.zeros(rows),
        spring_stiffness=joints.stiffness.copy(),
        spring_damping=joints.damping.copy(),
        largest=joints.largest.copy(),
        breaking=joints.breaking.copy(),
        coupling=np.zeros((rows, 6)),
        push=np.tile([np.nan, 0.0, 0.0], (rows, 1)),
        angle=np.zeros((rows, 2)),
        side=np.ones(rows),
        sheet=np.ones((rows, 2)),
        impulse=np.zeros(rows),
        change=np.zeros(rows),
        start=np.zeros(rows),
        aim=np.zeros(rows),
        end_error=np.zeros(rows),
        fall=np.zeros(1),
        time_left=np.ones(1),
        given=np.zeros(rows),
        block=np.full(count, -1, np.int64),
        island=np.zeros(count, np.int64),
        joint_of_block=np.zeros(count, np.int64),
        is_held=np.zeros(bodies, np.bool_),
        ring=np.arange(bodies),
        lowest=np.arange(bodies),
        share=np.full(bodies, 0.5),
        end_position=np.zeros((bodies, 3)),
        end_orientation=np.zeros((bodies, 4)),
        pose_position=np.zeros((bodies, 3)),
        pose_orientation=np.zeros((bodies, 4)),
        guess=np.zeros((bodies, 6)),
        stiffness=np.zeros((bodies, 6)),
        gain=np.zeros((bodies, 6)),
        last_gain=np.zeros((bodies, 6)),
        own_inertia=np.zeros((bodies, 9)),
        own_velocity=np.zeros((bodies, 6)),
        is_due=np.zeros(bodies, np.bool_),
        asks_at_end=np.zeros(bodies, np.bool_),
        is_slow=np.zeros(bodies, np.bool_),
        was_swept=np.zeros(bodies, np.bool_),
        has_no_end=np.zeros(bodies, np.bool_),
        way=np.zeros(bodies, np.int64),
        off=np.zeros(bodies),
        error=np.zeros(bodies),
        least=np.zeros(bodies),
        least_off=np.zeros(bodies),
        stale=np.zeros(bodies, np.int64),
        starts_open=np.zeros(bodies, np.bool_),
        is_beyond=np.zeros(bodies, np.bool_),
        is_led=np.zeros(bodies, np.int8),
        opening=np.zeros((count, 2)),
        force=np.zeros((count, 6)),
        steady=np.zeros((count, 6)),
        hit_impulse=np.zeros((count, 2, 6)),
        handed_on=np.zeros((count, 12)),
        load=np.zeros((count, 2)),
        peak=np.zeros((count, 2)),
        stress=np.zeros(len(joints.bond)),
        peak_stress=np.zeros(len(joints.bond)),
        spread=np.ones(len(joints.bond)),
        bond_stiffness=np.ones(rows if len(joints.bond) else 0),
        hit_count=np.zeros(1, np.int64),
        hit_island=np.zeros(HIT_PLACES if len(joints.bond) else 0, np.int64),
        hit_place=np.zeros((HIT_PLACES if len(joints.bond) else 0, 3)),
        is_hit=np.zeros(bodies, np.bool_),
        worst=np.zeros(bodies),
    )
