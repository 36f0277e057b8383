// expect: {"ok":{"ok":true,"attempts":3},"failed":{"name":"RetryError","message":"gave up after 3","attempts":3,"cause":"503 Service Unavailable (attempt 3)"}}
class RetryError extends Error { constructor(message: string, public readonly attempts: number, options?: ErrorOptions) { super(message, options); this.name = 'RetryError'; } }
const sleep = (ms: number) => new Promise<void>((r) => setTimeout(r, ms));
async function retry<T>(fn: () => Promise<T>, { tries = 3, base = 2 }: { tries?: number; base?: number } = {}): Promise<T> {
  let last: unknown;
  for (let i = 0; i < tries; i++) {
    try { return await fn(); } catch (e) { last = e; await sleep(base * 2 ** i); }
  }
  throw new RetryError(`gave up after ${tries}`, tries, { cause: last });
}
const ok = await retry(() => tools.flaky({ key: 'a' }), { tries: 5 });
let failed: any;
try { await retry(() => tools.flaky({ key: 'b', failures: 9 })); } catch (e) { if (e instanceof RetryError) failed = { name: e.name, message: e.message, attempts: e.attempts, cause: (e.cause as Error).message }; }
return { ok, failed };
