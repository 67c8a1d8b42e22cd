// SPDX-License-Identifier: GPL-3.0-or-later
// Flamenco job type of a wedge by Cairn. Put this file into the manager's folder "scripts".
//
// A task is a variant; a long bake is a chain of tasks, each of which goes on from the checkpoint of the one before it.
// When all are done, one more task makes the table and the contact sheet.

const JOB_TYPE = {
    label: "Cairn Wedge",
    description: "Bake the variants of a scene of rigid bodies",
    settings: [
        { key: "blendfile", type: "string", required: true, visible: "web",
          description: "The scene" },
        { key: "folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the wedge, with its wedge.json, on storage that all workers see" },
        { key: "variants", type: "int32", required: true, visible: "submission",
          description: "How many variants wedge.json has" },
        { key: "until", type: "string", required: false, default: "", visible: "submission",
          description: "Frames at which a bake is divided into tasks, as in 500,1000; empty: it is one task" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const divisions = settings.until ? settings.until.split(",").map((frame) => frame.trim()) : [];
    const table = author.Task("table", "misc");
    for (let variant = 1; variant <= settings.variants; variant++) {
        let before = null;
        for (const until of [...divisions, ""]) {
            const name = until ? `variant-${variant}-until-${until}` : `variant-${variant}`;
            const task = author.Task(name, "blender");
            const own = ["--task", String(variant), "-o", settings.folder];
            task.addCommand(blenderCommand(settings, until ? [...own, "--until", until] : own));
            if (before) {
                task.addDependency(before);
            }
            job.addTask(task);
            before = task;
        }
        table.addDependency(before);
    }
    table.addCommand(blenderCommand(settings, ["--table", "-o", settings.folder]));
    job.addTask(table);
}

function blenderCommand(settings, own) {
    return author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: settings.blendfile,
        // what follows --command is Cairn's
        args: ["--command", "cairn", "wedge", ...own],
    });
}
