"""A manager of Flamenco, as far as a job type sees it: node compiles the job with the manager's functions stubbed."""

import json
import subprocess
from pathlib import Path

_MANAGER = """
const author = {
    Task: (name, type) => ({
        name, type, commands: [], before: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(task) { this.before.push(task.name); },
    }),
    Command: (name, parameters) => ({ name, parameters }),
};
const given = JSON.parse(require("fs").readFileSync(process.argv[2], "utf-8"));
const tasks = [];
const job = { ...given, addTask(task) { tasks.push(task); } };
for (const setting of JOB_TYPE.settings)
    if (setting.required && !(setting.key in job.settings)) throw new Error("no " + setting.key);
for (const key in job.settings)
    if (!JOB_TYPE.settings.some((setting) => setting.key === key)) throw new Error("unknown " + key);
compileJob(job);
console.log(JSON.stringify(tasks));
"""


def compiled_tasks(folder: Path, place: Path) -> list[dict]:
    """Tasks of the job that ``cairn wedge --emit flamenco`` has left in a folder, in an order in which they can run.

    Each has ``name``, ``words`` (what the worker calls Blender with; its own arguments are filled in) and ``before``
    (names of those that it waits for).
    """
    script = place / "compile.js"
    script.write_text((folder / "cairn_wedge.js").read_text(encoding="utf-8") + _MANAGER, encoding="utf-8")
    compiled = subprocess.run(
        ["node", str(script), str(folder / "flamenco_job.json")], capture_output=True, text=True, check=False
    )
    assert compiled.returncode == 0, compiled.stderr
    tasks, done = json.loads(compiled.stdout), set()
    for task in tasks:
        assert done.issuperset(task["before"])
        done.add(task["name"])
        (command,) = task["commands"]
        assert command["name"] == "blender-render"
        told = command["parameters"]
        assert (told["exe"], told["exeArgs"]) == ("{blender}", "{blenderArgs}")
        task["words"] = ["-b", "-y", *told["argsBefore"], told["blendfile"], *told["args"]]
    return tasks
