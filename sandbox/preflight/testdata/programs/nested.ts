const customers = await crm.find_customers({ query: "berlin" });
const report = [];
for (const c of customers) {
  const near = customers.filter((o) => o.address.zip === c.address.zip && o.id !== c.id);
  report.push({ name: c.name, city: c.address.city, neighbours: near.map((o) => o.name) });
}
await mail.send({ to: "sales@example.com", subject: `${report.length} customers`, body: JSON.stringify(report) });
return report.length;
