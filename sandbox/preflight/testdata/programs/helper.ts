const label = (issue) => `#${issue.id} ${issue.title}`;
async function openIssues() {
  const { issues } = await tracker.list_issues({ state: "open" });
  return issues;
}
const issues = await openIssues();
console.log(issues.map(label).join("\n"));
const first = issues.find((issue) => issue.state === "open");
if (first) {
  const full = await tracker.get_issue({ id: first.id });
  console.log(full.title, full.state);
}
return issues.length;
