// expect: {"settled":[42,"Error: timeout after 5ms","TypeError: sync"],"hits":[3],"seq":[2,4,6],"order":["sync","micro","then","timeout"],"any":"any","fa":[10,20]}
const { promise, resolve, reject } = Promise.withResolvers<number>(); setTimeout(() => resolve(42), 3);
const timeout = <T,>(p: Promise<T>, ms: number): Promise<T> => Promise.race([p, new Promise<never>((_, rej) => setTimeout(() => rej(new Error(`timeout after ${ms}ms`)), ms))]);
const delay = (ms: number, v?: any) => new Promise((r) => setTimeout(r, ms, v));
const debounce = <A extends any[]>(fn: (...a: A) => void, ms: number) => { let t: ReturnType<typeof setTimeout>; return (...a: A) => { clearTimeout(t); t = setTimeout(fn, ms, ...a); }; };
const hits: number[] = []; const d = debounce((n: number) => hits.push(n), 5); d(1); d(2); d(3); await delay(20);
const seq = await [1, 2, 3].reduce(async (acc, n) => [...(await acc), await delay(1, n * 2)], Promise.resolve([] as any[]));
const settled = await Promise.allSettled([promise, timeout(delay(50), 5), Promise.try(() => { throw new TypeError('sync'); })]);
const order: string[] = []; setTimeout(() => order.push('timeout'), 0); queueMicrotask(() => order.push('micro')); Promise.resolve().then(() => order.push('then')); order.push('sync'); await delay(3);
return { settled: settled.map((s) => (s.status === 'fulfilled' ? s.value : `${s.reason.name}: ${s.reason.message}`)), hits, seq, order, any: await Promise.any([Promise.reject(1), delay(1, 'any')]), fa: await Array.fromAsync((async function* () { yield 1; yield 2; })(), (x) => x * 10) };
