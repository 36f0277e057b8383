// expect: {"names":["Ada Lovelace","Grace Hopper","Alan Turing","Édith Piaf","Søren Kierkegaard","山田太郎","Zoë Q."],"peak":3}
async function mapLimit<T, R>(items: T[], limit: number, fn: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0, active = 0, peak = 0;
  const worker = async () => { while (next < items.length) { const i = next++; peak = Math.max(peak, ++active); results[i] = await fn(items[i], i); active--; } };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  (mapLimit as any).peak = peak;
  return results;
}
const names = await mapLimit([0, 1, 2, 3, 4, 5, 6], 3, async (n) => (await tools.getCustomer({ id: `c${n}` })).name);
return { names, peak: (mapLimit as any).peak };
