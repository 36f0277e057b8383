// expect: {"r":"done","err":"boom","both":["SuppressedError","dispose failed","body failed"],"log":["open a","open b","work ab","close b","close a","block c","async close c","open x","close x","open z1","open z2","loop z1","close z1","loop z2","close z2","open s1","adopt v","deferred","close s1"],"disposed":true}
const log: string[] = [];
class Lock implements Disposable { constructor(readonly name: string) { log.push('open ' + name); } [Symbol.dispose]() { log.push('close ' + this.name); } }
const conn = (name: string) => ({ name, async [Symbol.asyncDispose]() { await null; log.push('async close ' + name); } });
function work() { using a = new Lock('a'); using b = new Lock('b'); log.push(`work ${a.name}${b.name}`); return 'done'; }
const r = work();
{ await using c = conn('c'); using n = null; log.push('block ' + c.name); }
let err = ''; try { using x = new Lock('x'); throw new Error('boom'); } catch (e: any) { err = e.message; }
let both: any; try { using y = { [Symbol.dispose]() { throw new Error('dispose failed'); } }; throw new Error('body failed'); } catch (e: any) { both = [e.name, e.error?.message, e.suppressed?.message]; }
for (using z of [new Lock('z1'), new Lock('z2')]) log.push('loop ' + z.name);
const stack = new DisposableStack(); stack.use(new Lock('s1')); stack.defer(() => log.push('deferred')); stack.adopt('v', (v) => log.push('adopt ' + v)); stack.dispose();
return { r, err, both, log, disposed: stack.disposed };
