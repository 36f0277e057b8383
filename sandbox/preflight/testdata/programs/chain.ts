return tracker.list_issues({ state: "open" }).then((r) => r.issues.length);
