// expect: {"total":5,"names":["a","b"]}
interface Item { name: string; qty: number }
const helpers = { sum: (xs: number[]) => xs.reduce((a, b) => a + b, 0), by: <T, K extends keyof T>(k: K) => (a: T, b: T) => (a[k] < b[k] ? -1 : a[k] > b[k] ? 1 : 0) };
async function main(): Promise<{ total: number; names: string[] }> { const items: Item[] = await tools.echo([{ name: 'b', qty: 2 }, { name: 'a', qty: 3 }]); return { total: helpers.sum(items.map((i) => i.qty)), names: items.sort(helpers.by('name')).map((i) => i.name) }; }
return await main();
