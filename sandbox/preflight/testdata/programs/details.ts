const list = await tracker.list_issues({ limit: 5 });
const full = await Promise.all(list.issues.map((one) => tracker.get_issue({ id: one.id })));
return full.map(({ id, title, assignee }) => ({ id, title, who: assignee?.login ?? "nobody" }));
