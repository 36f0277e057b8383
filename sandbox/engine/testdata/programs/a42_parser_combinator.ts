// expect: [7,13,0.5,"error at 2",7]
type P<T> = (s: string, i: number) => { v: T; i: number } | null;
const re = (r: RegExp): P<string> => (s, i) => { const x = new RegExp(r.source, 'y'); x.lastIndex = i; const m = x.exec(s); return m ? { v: m[0], i: x.lastIndex } : null; };
const map = <A, B>(p: P<A>, f: (a: A) => B): P<B> => (s, i) => { const r = p(s, i); return r && { v: f(r.v), i: r.i }; };
const alt = <T,>(...ps: P<T>[]): P<T> => (s, i) => { for (const p of ps) { const r = p(s, i); if (r) return r; } return null; };
const seq = <T extends any[]>(...ps: { [K in keyof T]: P<T[K]> }): P<T> => (s, i) => { const out: any[] = []; for (const p of ps) { const r = p(s, i); if (!r) return null; out.push(r.v); i = r.i; } return { v: out as T, i }; };
const many = <T,>(p: P<T>): P<T[]> => (s, i) => { const out: T[] = []; for (let r; (r = p(s, i)); ) { out.push(r.v); i = r.i; } return { v: out, i }; };
const tok = (r: RegExp) => map(seq<[string, string]>(re(r), re(/\s*/)), ([a]) => a); const lazy = <T,>(f: () => P<T>): P<T> => (s, i) => f()(s, i);
const num: P<number> = map(tok(/\d+(?:\.\d+)?/), Number); const atom: P<number> = alt(num, map(seq<[string, number, string]>(tok(/\(/), lazy(() => expr), tok(/\)/)), ([, v]) => v), map(seq<[string, number]>(tok(/-/), lazy(() => atom)), ([, v]) => -v));
const bin = (sub: P<number>, ops: Record<string, (a: number, b: number) => number>): P<number> => map(seq<[number, [string, number][]]>(sub, many(seq<[string, number]>(tok(new RegExp(`[${Object.keys(ops).map((o) => '\\' + o).join('')}]`)), sub))), ([h, t]) => t.reduce((a, [o, b]) => ops[o](a, b), h));
const term = bin(atom, { '*': (a, b) => a * b, '/': (a, b) => a / b }); const expr: P<number> = bin(term, { '+': (a, b) => a + b, '-': (a, b) => a - b });
const calc = (s: string) => { const r = expr(s.trim(), 0); return r && r.i === s.trim().length ? r.v : `error at ${r?.i ?? 0}`; };
return ['1 + 2 * 3', '(1+2)*3 - -4', '10 / 4 / 5', '2 * (3', '7'].map(calc);
