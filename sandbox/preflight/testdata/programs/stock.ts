const wanted = { "A-1": 3, "B-2": 1 };
const { items, total } = await store.products({ page: 1 });
console.log(`${total} products`);
const short = [];
for (const [sku, qty] of Object.entries(wanted)) {
  const product = items.find((p) => p.sku === sku);
  if (!product || product.stock < qty) {
    short.push(sku);
    continue;
  }
  await store.reserve({ sku, qty });
}
return short;
