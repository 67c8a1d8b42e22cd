"""Concave solids as convex parts, by CoACD, with a cache of what was once decomposed.

CoACD (Wei, Liu, Ling and Su 2022, "Approximate convex decomposition for 3D meshes with collision-aware concavity and
tree search") cuts a closed mesh by planes until each part is as close to its convex hull as a threshold asks for. It
is an optional package (``pip install coacd``), imported at the first decomposition only. Given the same seed it gives
the same parts, whatever the number of threads.

A mesh is decomposed at size 1, so that the same shape gives the same parts whatever its scale.

CoACD is one call that takes seconds to minutes and cannot be interrupted. So it runs in a child process
(``compiled.child_process``), which is polled and can be ended at any time; meshes and parts are passed in files of a
temporary folder.
"""

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import os
import subprocess
import tempfile
from collections.abc import Generator
from dataclasses import astuple, dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from ..compiled import child_process
from .hulls import ConvexHull
from .mesh_repair import count_edges, orient
from .shapes import ShapeError
from .volume_integrals import signed_volumes

# A mesh is convex if it fills its hull but for this share.
RATIO_CONVEX = 1e-4
# A mesh of more triangles is first remade from a grid: CoACD's time grows with them, the parts hardly change.
MAXIMAL_TRIANGLES = 50_000
# How far a part may reach beyond the box of its mesh, as a share of the mesh's size: remaking a mesh from a grid
# thickens it by a cell.
RATIO_BEYOND = 0.1

_SEED = 1
# Iterations of the search for each cut. CoACD's own 150 took three times as long on a torus and a bowl, for the same
# parts.
_SEARCH_ITERATIONS = 60
# For open meshes, which are made anew from a grid: their shells bend everywhere, and any cut is about as good. A
# hemisphere without thickness took 38 s with the iterations above and 16 with these, for as many parts of one volume.
_SEARCH_ITERATIONS_SHELL = 20
# Vertices of a part. More cost time in every contact; with these a round part is off by a thousandth of its size.
_MAXIMAL_VERTICES = 256
# A mesh of more separate parts is left to CoACD, which makes fewer of them: each costs time in every contact.
_MOST_PIECES = 64
# Decimals of a vertex of a mesh of size 1: single precision has no more.
_DIGITS = 7
# Longest wait for a child at a time [s].
_POLL_INTERVAL = 0.05
# Return code of a Python that an exception has ended.
_EXCEPTION = 1
# Part of the cache's keys: raised whenever what is stored changes.
_FORMAT = 2


class DecompositionError(RuntimeError):
    """A mesh that could not be decomposed, or CoACD that cannot be loaded; one line."""


@dataclass(frozen=True)
class DecompositionSettings:
    """How finely a solid is cut.

    Attributes
    ----------
    concavity : float
        Deepest hollow that a part may fill, from 0.01 to 1, as a share of the size (CoACD's ``threshold``).
    maximal_parts : int
        0: as many as the concavity asks for.
    grid : int
        Cells along the longest side of the grid from which open meshes, and very fine ones, are remade, 20 to 100.
    """

    concavity: float = 0.05
    maximal_parts: int = 0
    grid: int = 30


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A mesh of size 1 that is to be decomposed.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
    settings : DecompositionSettings
    """

    vertices: np.ndarray
    triangles: np.ndarray
    settings: DecompositionSettings

    @classmethod
    def of(
        cls, vertices: np.ndarray, triangles: np.ndarray, settings: DecompositionSettings
    ) -> "tuple[Decomposition, np.ndarray, float]":
        """What to decompose of a mesh of any size; and the centre [m] and size [m] that bring its parts back.

        Rounded, so that meshes of one shape that differ by rounding only share their parts.
        """
        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        center, size = 0.5 * (lower + upper), (upper - lower).max()
        unit = np.round((vertices - center) / size, _DIGITS) + 0.0
        return cls(unit, np.ascontiguousarray(triangles, np.int64), settings), center, float(size)

    @functools.cached_property
    def key(self) -> str:
        """Hash of the mesh, the settings and CoACD's version: equal keys have equal parts."""
        digest = hashlib.sha256(repr((_FORMAT, _SEED, coacd_version(), *astuple(self.settings))).encode())
        digest.update(np.ascontiguousarray(self.vertices, float).tobytes())
        digest.update(np.ascontiguousarray(self.triangles, np.int64).tobytes())
        return digest.hexdigest()[:32]

    @property
    def is_remade(self) -> bool:
        """Whether the mesh is too fine to be cut as it is."""
        return len(self.triangles) > MAXIMAL_TRIANGLES

    @property
    def _is_shell(self) -> bool:
        """Whether the mesh is open, with edges of one triangle or of many: CoACD makes it anew from a grid."""
        open_edges, crowded_edges = count_edges(self.triangles)
        return open_edges + crowded_edges > 0

    def convex_pieces(self) -> list[np.ndarray] | None:
        """Points of its connected parts, where all of them are closed and convex; else None.

        A chair or a pallet that was joined of boxes is in convex parts already, to the bit and without a search.
        """
        oriented = orient(self.vertices, self.triangles)
        if not 1 < oriented.part_count <= _MOST_PIECES or not oriented.is_closed.all():
            return None
        volumes, pieces = np.bincount(oriented.part, signed_volumes(self.vertices[oriented.triangles])), []
        for part, volume in enumerate(volumes):
            points = self.vertices[np.unique(oriented.triangles[oriented.part == part])]
            if len(points) > _MAXIMAL_VERTICES or volume < (1.0 - RATIO_CONVEX) * _hull_volume(points):
                return None
            pieces.append(points)
        return _merged(pieces, self.settings.maximal_parts or len(pieces))

    def run(self) -> list[np.ndarray]:
        """Decompose; takes seconds to minutes.

        Returns
        -------
        list of float64 [point_count, 3]
            Points of each convex part.

        Raises
        ------
        DecompositionError
        """
        coacd = load_coacd()
        try:
            found = coacd.run_coacd(
                coacd.Mesh(self.vertices, self.triangles),
                threshold=self.settings.concavity,
                max_convex_hull=self.settings.maximal_parts or -1,
                preprocess_mode="on" if self.is_remade else "auto",
                preprocess_resolution=self.settings.grid,
                mcts_iterations=_SEARCH_ITERATIONS_SHELL if self._is_shell else _SEARCH_ITERATIONS,
                decimate=True,
                max_ch_vertex=_MAXIMAL_VERTICES,
                seed=_SEED,
            )
        except Exception as error:  # whatever a foreign library raises
            raise DecompositionError(f"CoACD has failed: {' '.join(str(error).split())}") from error
        parts = [np.array(points, float) for points, _ in found]
        if not parts or not _are_sound(parts, self.vertices):
            raise DecompositionError("CoACD has found no parts")
        return _merged(parts, self.settings.maximal_parts or len(parts))


def decompose_beside(
    decompositions: list[Decomposition],
) -> Generator[list[np.ndarray] | DecompositionError | None, None, None]:
    """Decompose meshes in a child Python, one after the other, as a generator that is polled.

    Closing the generator ends the child immediately.

    Parameters
    ----------
    decompositions : list of Decomposition

    Yields
    ------
    list of float64 [point_count, 3], DecompositionError or None
        The parts of the next mesh, or why it has none; None while the child is working, about twenty times a second.

    Raises
    ------
    OSError
        No child can be started, or it cannot do its work; meshes whose outcome was not yielded are not decomposed.
    """
    with tempfile.TemporaryDirectory(prefix="cairn-") as name:
        folder = Path(name)
        for number, decomposition in enumerate(decompositions):
            _write_mesh(folder / f"{number}.mesh.npz", decomposition)
        first, count = 0, len(decompositions)
        while first < count:
            child = child_process.start(decompose_folder, name, str(first), str(count))
            try:
                while first < count:
                    ended = child.poll() is not None
                    outcome = _read_outcome(folder, first)
                    if outcome is not None:
                        yield outcome
                        first += 1
                    elif ended:
                        break
                    else:
                        yield None
                        _wait(child)
            finally:
                child_process.stop(child)
            if first < count:
                if child.returncode in (0, _EXCEPTION):
                    raise OSError("a Python of its own could not decompose it")
                # The next child goes on after the mesh at which this one has crashed.
                yield DecompositionError(f"CoACD has crashed (exit code {child.returncode})")
                first += 1


def decompose_folder(folder: str, first: str, count: str) -> None:
    """What the child process does: decompose the meshes numbered from ``first`` to ``count``, write their outcomes."""
    for number in range(int(first), int(count)):
        try:
            parts = _read_mesh(Path(folder, f"{number}.mesh.npz")).run()
        except DecompositionError as error:
            with _whole_file(Path(folder, f"{number}.error.txt")) as file:
                file.write(str(error).encode())
        else:
            _write_parts(Path(folder, f"{number}.parts.npz"), parts)


def _wait(child):
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_POLL_INTERVAL)


def _write_mesh(path, decomposition):
    settings = np.array(astuple(decomposition.settings), float)
    np.savez(path, vertices=decomposition.vertices, triangles=decomposition.triangles, settings=settings)


def _read_mesh(path) -> Decomposition:
    with np.load(path, allow_pickle=False) as stored:
        concavity, maximal_parts, grid = stored["settings"].tolist()
        settings = DecompositionSettings(concavity, int(maximal_parts), int(grid))
        return Decomposition(stored["vertices"], stored["triangles"], settings)


def _read_outcome(folder, number):
    """Parts, an error, or None where there is neither yet."""
    error = folder / f"{number}.error.txt"
    if error.exists():
        return DecompositionError(error.read_text("utf-8"))
    return _read_parts(folder / f"{number}.parts.npz")


def _merged(parts, count) -> list[np.ndarray]:
    """At most ``count`` parts: again and again the two become one that together fill the least that was empty.

    CoACD keeps to its own limit only while merging seems good to it.
    """
    parts = list(parts)
    if len(parts) <= count:
        return parts
    volumes = [_hull_volume(points) for points in parts]
    added = {
        (i, j): _hull_volume(np.concatenate([parts[i], parts[j]])) - volumes[i] - volumes[j]
        for i in range(len(parts))
        for j in range(i + 1, len(parts))
    }
    alive = set(range(len(parts)))
    while len(alive) > count:
        i, j = min(added, key=lambda pair: (added[pair], pair))
        joined = np.concatenate([parts[i], parts[j]])
        alive -= {i, j}
        added = {pair: volume for pair, volume in added.items() if alive.issuperset(pair)}
        volume = _hull_volume(joined)
        for other in sorted(alive):
            together = _hull_volume(np.concatenate([parts[other], joined]))
            added[other, len(parts)] = together - volume - volumes[other]
        alive.add(len(parts))
        parts.append(joined)
        volumes.append(volume)
    return [parts[index] for index in sorted(alive)]


def _hull_volume(points) -> float:
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    try:
        return float(Qhull(points).volume)
    except QhullError:  # flat
        return 0.0


def coacd_version() -> str | None:
    """Version of the installed CoACD, without loading it; None where there is none."""
    try:
        return importlib.metadata.version("coacd")
    except importlib.metadata.PackageNotFoundError:
        return None


def load_coacd() -> ModuleType:
    """The package, silenced.

    Raises
    ------
    DecompositionError
        It is missing, or does not fit this system.
    """
    try:
        coacd = importlib.import_module("coacd")
        coacd.set_log_level("off")
    except Exception as error:  # a library that does not load raises anything from ImportError to AttributeError
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DecompositionError(f"CoACD cannot be loaded ({reason})") from error
    return coacd


def hulls_of_parts(parts: list[np.ndarray], center: ArrayLike = (0.0, 0.0, 0.0), size: float = 1.0) -> list[ConvexHull]:
    """Convex hulls of the parts, at the place and size of their mesh; parts without a volume are dropped.

    Parameters
    ----------
    parts : list of float64 [point_count, 3]
    center, size : float64 [3], float
        As ``Decomposition.of`` has returned them.

    Raises
    ------
    DecompositionError
        None has a volume.
    """
    hulls = []
    for points in parts:
        try:
            hull = ConvexHull.from_points(np.asarray(center) + size * points)
        except ShapeError:  # a sliver that is a line
            continue
        if not hull.is_flat:
            hulls.append(hull)
    if not hulls:
        raise DecompositionError("CoACD has found no part with a volume")
    return hulls


class DecompositionCache:
    """Parts by key: in memory, and in a folder of plain ``.npz`` files if there is one.

    Parameters
    ----------
    folder : path-like or None
        Made at the first write.
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = None if folder is None else Path(folder)
        self._parts: dict[str, list[np.ndarray]] = {}

    def find(self, decomposition: Decomposition) -> list[np.ndarray] | None:
        """Parts that were found before, or None. A file that cannot be right counts as none."""
        key = decomposition.key
        if key not in self._parts and self.folder is not None:
            parts = _read_parts(self.folder / f"{key}.npz")
            if parts is not None and _are_sound(parts, decomposition.vertices):
                self._parts[key] = parts
        return self._parts.get(key)

    def keep(self, decomposition: Decomposition, parts: list[np.ndarray]) -> None:
        """Remember parts. A folder that cannot be written is done without."""
        key = decomposition.key
        self._parts[key] = parts
        if self.folder is not None:
            _write_parts(self.folder / f"{key}.npz", parts)


def _are_sound(parts, vertices) -> bool:
    """Whether parts are finite point sets within the box of their mesh, or little beyond."""
    beyond = RATIO_BEYOND * np.ptp(vertices, axis=0).max()
    lower, upper = vertices.min(axis=0) - beyond, vertices.max(axis=0) + beyond
    return all(
        points.ndim == 2
        and points.shape[1] == 3
        and len(points) >= 4
        and bool(np.all((points >= lower) & (points <= upper)))  # false for NaN
        for points in parts
    )


def _read_parts(path) -> list[np.ndarray] | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            points, starts = stored["points"], stored["starts"]
    except Exception:  # a file may be missing, cut off, or anything at all
        return None
    is_table = (
        points.dtype == np.float64
        and points.ndim == 2
        and starts.dtype == np.int64
        and starts.ndim == 1
        and len(starts) >= 2
        and starts[0] == 0
        and starts[-1] == len(points)
        and bool(np.all(np.diff(starts) > 0))
    )
    return np.split(points, starts[1:-1]) if is_table else None


def _write_parts(path, parts):
    """Write a file that is either whole or not there."""
    starts = np.concatenate([[0], np.cumsum([len(points) for points in parts])]).astype(np.int64)
    with contextlib.suppress(OSError), _whole_file(path) as file:
        np.savez_compressed(file, points=np.concatenate(parts), starts=starts)


@contextlib.contextmanager
def _whole_file(path):
    """A file to be written that appears when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
