// An overview of the open bugs, and a task to look at the oldest one.
const { issues } = await tracker.list_issues({ state: "open" });
const bugs = issues.filter((issue) => issue.labels.includes("bug")).sort((a, b) => a.id - b.id);

const overview = await tracker.create_issue({ title: `${bugs.length} open bugs`, labels: ["overview"] });
const oldest = bugs[0].title.trim();
const task = await tracker.create_issue({ title: `Look at: ${oldest}`, body: `The oldest of #${overview.id}.` });
return [overview.id, task.id];
