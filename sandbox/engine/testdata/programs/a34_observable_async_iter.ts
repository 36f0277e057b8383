// expect: {"got":[0,1,2,3],"r":["end","p"],"merged":["a0","b0","a1","a2","b1","b2"],"cleanup":["v1","fin"],"err":"gen","ns":["i","ret"],"sync":[1,2]}
class Channel<T> implements AsyncIterable<T> { #buf: T[] = []; #wait: ((r: IteratorResult<T>) => void)[] = []; #done = false; send(v: T) { const w = this.#wait.shift(); w ? w({ value: v, done: false }) : this.#buf.push(v); } close() { this.#done = true; for (const w of this.#wait.splice(0)) w({ value: undefined as any, done: true }); } async *[Symbol.asyncIterator](): AsyncGenerator<T> { while (true) { if (this.#buf.length) { yield this.#buf.shift()!; continue; } if (this.#done) return; const r = await new Promise<IteratorResult<T>>((res) => this.#wait.push(res)); if (r.done) return; yield r.value; } } }
const ch = new Channel<number>(); const got: number[] = [];
const reader = (async () => { for await (const v of ch) { got.push(v); if (v === 3) break; } return 'end'; })();
const producer = (async () => { for (let i = 0; i < 5; i++) { ch.send(i); await new Promise((r) => setTimeout(r, 1)); } ch.close(); })();
const r = await Promise.all([reader, producer.then(() => 'p')]);
async function* merge<T>(...its: AsyncIterable<T>[]) { const live = new Map(its.map((it, i) => { const g = it[Symbol.asyncIterator](); return [i, g.next().then((v) => ({ i, g, v }))] as const; })); while (live.size) { const { i, g, v } = await Promise.race(live.values()); if (v.done) live.delete(i); else { live.set(i, g.next().then((v) => ({ i, g, v }))); yield v.value; } } }
async function* take<T>(it: AsyncIterable<T>, n: number) { if (n <= 0) return; for await (const v of it) { yield v; if (--n <= 0) return; } }
const timed = async function* (name: string, ms: number) { for (let i = 0; i < 3; i++) { await new Promise((r) => setTimeout(r, ms)); yield name + i; } };
const merged: string[] = []; for await (const v of merge(timed('a', 20), timed('b', 33))) merged.push(v);
const cleanup: string[] = []; const g = (async function* () { try { yield 1; yield 2; } finally { cleanup.push('fin'); } })(); for await (const v of take(g, 1)) cleanup.push('v' + v);
const err = await (async () => { try { for await (const v of (async function* () { yield 1; throw new Error('gen'); })()) void v; } catch (e: any) { return e.message; } })();
const nested = (async function* () { const r = yield* (async function* () { yield 'i'; return 'ret'; })(); yield r; })(); const ns: any[] = []; for await (const v of nested) ns.push(v);
return { got, r, merged, cleanup, err, ns, sync: await (async () => { const o = []; for await (const v of [Promise.resolve(1), 2]) o.push(v); return o; })() };
