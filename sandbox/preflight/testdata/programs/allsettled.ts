const ids = [1, 2, 3, 5, 8];
const results = await Promise.allSettled(ids.map((id) => tracker.get_issue({ id })));
const found = results.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
const missing = ids.filter((_, i) => results[i].status === "rejected");
return { found: found.length, missing };
