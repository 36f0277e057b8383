const { issues } = await tracker.list_issues({ state: "open", limit: 50 });
const stale = issues.filter((issue) => issue.labels.includes("stale"));
for (const issue of stale) {
  await tracker.comment({ id: issue.id, body: `Closing ${issue.title}` });
  await tracker.close_issue({ id: issue.id });
}
return stale.map((issue) => issue.id);
