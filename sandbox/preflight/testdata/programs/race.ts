const slow = store.products({ page: 1 });
const timer = codemode.sleep(5000).then(() => null);
const winner = await Promise.race([slow, timer]);
if (winner === null) {
  return "too slow";
}
const products = await store.products({ page: 2 });
return products.total;
