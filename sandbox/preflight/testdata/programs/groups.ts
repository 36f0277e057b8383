const customers = await crm.find_customers({ query: "" });
const byCity = new Map<string, string[]>();
for (const { name, address } of customers) {
  const list = byCity.get(address.city) ?? [];
  list.push(name);
  byCity.set(address.city, list);
}
const top = [...byCity.entries()].sort(([, a], [, b]) => b.length - a.length).slice(0, 3);
return Object.fromEntries(top);
