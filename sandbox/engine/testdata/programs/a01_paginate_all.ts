// expect: {"n":57,"byCurrency":{"USD":{"count":48,"sum":11350.79},"EUR":{"count":9,"sum":2025.1}},"top":[{"id":"ord_40","total":485.2},{"id":"ord_13","total":482.69},{"id":"ord_53","total":467.89}]}
interface Order { id: string; customerId: string; status: 'paid' | 'pending' | 'refunded'; total: number; currency: string; createdAt: string }
type Page<T> = { data: T[]; page: number; total: number; hasMore: boolean };
async function fetchAll<T>(load: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const out: T[] = [];
  let page = 1;
  while (true) {
    const res = await load(page++);
    out.push(...res.data);
    if (!res.hasMore) break;
  }
  return out;
}
const orders = await fetchAll<Order>((page) => tools.listOrders({ page, pageSize: 25 }));
const byCurrency = orders.reduce<Record<string, { count: number; sum: number }>>((acc, o) => {
  (acc[o.currency] ??= { count: 0, sum: 0 }).count++;
  acc[o.currency].sum += o.total;
  return acc;
}, {});
for (const v of Object.values(byCurrency)) v.sum = Number(v.sum.toFixed(2));
return { n: orders.length, byCurrency, top: orders.toSorted((a, b) => b.total - a.total).slice(0, 3).map(({ id, total }) => ({ id, total })) };
