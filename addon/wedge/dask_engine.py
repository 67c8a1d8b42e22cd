"""Tasks on a Dask cluster: of processes on this machine, or any that Dask knows (SSH, Slurm, Kubernetes ...).

What a worker gets is a command line, so it needs Python's own modules only; Cairn runs in a process of its own there. A
task whose worker dies is given to another one, and goes on from the variant's checkpoint.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from .local import TaskEnd, task_command
from .variants import Variant, WedgeError

# How often a task may lose its worker.
_RETRIES = 3


def run_on_dask(
    folder: Path,
    variants: list[Variant],
    jobs: int,
    address: str,
    cairn: list[str],
    check: Callable[[], object] = lambda: None,
) -> Iterator[TaskEnd]:
    """As ``run_locally``; ``cairn`` is the command that runs Cairn on a worker.

    ``address`` is the scheduler's, or empty for a cluster of ``jobs`` workers of its own.

    Raises
    ------
    WedgeError
        The package is missing, or there is no such scheduler.
    """
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError as error:
        raise WedgeError(f'Dask is not installed ({error}); install it with: pip install "cairn[dask]"') from error
    try:
        cluster = None if address else LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
        client = Client(address or cluster)
    except (OSError, ValueError) as error:
        raise WedgeError(f"there is no Dask scheduler at {address}: {error}") from error
    try:
        futures = {}
        for variant in variants:
            future = client.submit(
                subprocess.run,
                [*task_command(cairn, folder.resolve(), variant), "--quiet"],
                capture_output=True,
                text=True,
                errors="replace",
                key=f"cairn-{folder.name}-{variant.name}",
                retries=_RETRIES,
                pure=False,
            )
            futures[future] = variant
        for future in as_completed(futures):
            check()
            yield _end_of(futures[future], future)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _end_of(variant, future):
    if future.status != "finished":
        return TaskEnd(variant, 1, f"Dask: {future.exception()}")
    ended = future.result()
    lines = [line for line in ended.stderr.splitlines() if line.startswith("cairn: ")]
    return TaskEnd(variant, ended.returncode, lines[-1].removeprefix("cairn: ") if lines else "")
