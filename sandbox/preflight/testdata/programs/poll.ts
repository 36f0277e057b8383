const created = await store.order({ customer: 7, items: [{ sku: "A-1", qty: 1 }] });
for (let i = 0; i < 10; i++) {
  const list = await tracker.list_issues({ state: "open" });
  const hit = list.issues.find((issue) => issue.title.includes(created.number));
  if (hit) {
    return hit.id;
  }
  await codemode.sleep(30_000);
}
return null;
