// expect: {"hits":2,"misses":4,"keys":["Paris","Tokyo"],"loads":2,"names":["Grace Hopper","Grace Hopper","Alan Turing"]}
class TTLCache<K, V> { private map = new Map<K, { v: V; exp: number }>(); hits = 0; misses = 0; constructor(private readonly opts: { max?: number; ttl: number }) {} async get(key: K, load: (k: K) => Promise<V>): Promise<V> { const e = this.map.get(key); if (e && e.exp > Date.now()) { this.hits++; this.map.delete(key); this.map.set(key, e); return e.v; } this.misses++; const v = await load(key); this.map.set(key, { v, exp: Date.now() + this.opts.ttl }); if (this.map.size > (this.opts.max ?? Infinity)) this.map.delete(this.map.keys().next().value!); return v; } get keys() { return [...this.map.keys()]; } }
const cache = new TTLCache<string, any>({ max: 2, ttl: 60_000 });
for (const city of ['London', 'Paris', 'London', 'Tokyo', 'Paris', 'Tokyo']) await cache.get(city, (c) => tools.getWeather({ city: c }));
const inflight = new Map<string, Promise<any>>(); let loads = 0; const once = (k: string) => inflight.get(k) ?? inflight.set(k, (async () => { loads++; try { return await tools.getCustomer({ id: k }); } finally { inflight.delete(k); } })()).get(k)!;
const same = await Promise.all([once('c1'), once('c1'), once('c2')]);
return { hits: cache.hits, misses: cache.misses, keys: cache.keys, loads, names: same.map((c) => c.name) };
