// expect: [["AbortError","This operation was aborted",true],"TimeoutError",[true,"early"],"AbortError","done"]
function wait(ms: number, signal?: AbortSignal): Promise<string> { return new Promise((res, rej) => { signal?.throwIfAborted(); const t = setTimeout(() => res('done'), ms); signal?.addEventListener('abort', () => { clearTimeout(t); rej(signal.reason); }, { once: true }); }); }
const c = new AbortController(); setTimeout(() => c.abort(), 5);
const out: any[] = [];
try { out.push(await wait(500, c.signal)); } catch (e: any) { out.push([e.name, e.message, e instanceof DOMException]); }
try { await wait(500, AbortSignal.timeout(5)); } catch (e: any) { out.push(e.name); }
const any = AbortSignal.any([new AbortController().signal, AbortSignal.abort('early')]); out.push([any.aborted, any.reason]);
try { await wait(1, c.signal); } catch (e: any) { out.push(e.name); }
out.push(await wait(1, new AbortController().signal));
return out;
