async () => {
  const [open, closed] = await Promise.all([
    tracker.list_issues({ state: "open" }),
    tracker.list_issues({ state: "closed" }),
  ]);
  const perLabel: Record<string, number> = {};
  for (const issue of open.issues) {
    for (const label of issue.labels) {
      perLabel[label] = (perLabel[label] ?? 0) + 1;
    }
  }
  return { open: open.issues.length, closed: closed.issues.length, perLabel };
}
