async function withRetry<T>(work: () => Promise<T>, times = 3): Promise<T> {
  let last: unknown;
  for (let i = 0; i < times; i++) {
    try {
      return await work();
    } catch (e) {
      last = e;
      await codemode.sleep(1000 * 2 ** i);
    }
  }
  throw last;
}
const result = await withRetry(() => store.reserve({ sku: "A-1", qty: 3 }));
return result;
