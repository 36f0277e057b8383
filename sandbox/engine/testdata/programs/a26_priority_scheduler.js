// expect: {"order":["high","mid","mid2","low"],"started":["deps","assets","compile","build","test"],"all":5}
class PQ { #h = []; push(v, p) { this.#h.push({ v, p }); this.#h.sort((a, b) => a.p - b.p); return this; } pop() { return this.#h.shift()?.v; } get size() { return this.#h.length; } }
const q = new PQ().push('low', 9).push('high', 1).push('mid', 5).push('mid2', 5); const order = []; while (q.size) order.push(q.pop());
const graph = { build: ['compile', 'assets'], compile: ['deps'], assets: [], deps: [], test: ['build'] };
const done = {}; const started = []; const run = (t) => (done[t] ??= (async () => { await Promise.all(graph[t].map(run)); started.push(t); await tools.echo({ t }); return t; })());
await Promise.all(Object.keys(graph).map(run));
return { order, started, all: Object.keys(done).length };
