"""A wedge as a job of Flamenco: the job type ``cairn_wedge.js`` for its manager, and the settings of this job."""

from pathlib import Path

from ..cli_output import write_json, write_text
from .plan import WedgePlan

JOB_TYPE = "cairn-wedge"
_SCRIPT = "cairn_wedge.js"


def write_job(plan: WedgePlan, folder: Path, until: list[int | None]) -> list[Path]:
    """Write the job type, and the job as the manager's interface takes it (``POST /api/v3/jobs``).

    Parameters
    ----------
    plan : WedgePlan
    folder : Path
        ``wedge.json`` is there.
    until : list of (int or None)
        Last frame of each task in the chain of a variant; None is the bake's own end.

    Returns
    -------
    list of Path
        What was written.
    """
    script, job = folder / _SCRIPT, folder / "flamenco_job.json"
    write_text(script, (Path(__file__).parent / _SCRIPT).read_text(encoding="utf-8"))
    content = {
        "name": f"Cairn {folder.name}",
        "type": JOB_TYPE,
        "priority": 50,
        "submitter_platform": "manager",
        "settings": {
            "blendfile": plan.scene,
            "folder": str(folder),
            "variants": len(plan.variants),
            "until": ",".join(str(frame) for frame in until if frame is not None),
        },
        "metadata": {"project": "Cairn"},
    }
    write_json(job, content)
    return [script, job]
