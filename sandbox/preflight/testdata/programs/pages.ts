const all = [];
let page = 1;
for (let round = 0; round < 20; round++) {
  const batch = await store.products({ page });
  all.push(...batch.items);
  if (!batch.nextPage) break;
  page = batch.nextPage;
}
return all.filter((p) => p.stock === 0).map((p) => p.sku);
