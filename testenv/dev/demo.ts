// File a follow-up for the two open bugs that people talk about most.
type Issue = { id: number; title: string; labels: string[] };

const { issues } = await tracker.list_issues({ state: "open" });
const bugs: Issue[] = issues.filter((issue: Issue) => issue.labels.includes("bug"));

const discussed = await Promise.all(bugs.map(async (bug) => {
  const { comments } = await tracker.list_comments({ id: bug.id });
  return { bug, comments: comments.length };
}));
discussed.sort((a, b) => b.comments - a.comments);
console.log(`${bugs.length} open bugs, most discussed first:`, discussed.map((d) => d.bug.title));

const created = await Promise.all(discussed.slice(0, 2).map(({ bug, comments }) =>
  tracker.create_issue({
    title: `Follow up: ${bug.title}`,
    body: `Issue #${bug.id} has ${comments} comments and is still open.`,
    labels: ["follow-up"],
  })));
return created.map(({ id, title }: Issue) => ({ id, title }));
