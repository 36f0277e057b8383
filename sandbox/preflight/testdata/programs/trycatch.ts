let created = null;
try {
  created = await tracker.create_issue({ title: "Printer on fire", labels: ["hardware"] });
} catch (e) {
  console.error("not created", e.message);
}
if (created) {
  await tracker.comment({ id: created.id, body: "Sprinklers were notified." });
}
const check = await tracker.list_issues({ state: "open" });
return check.issues.some((issue) => issue.title === "Printer on fire");
