const pending = [];
for (const sku of ["A-1", "B-2", "C-3"]) {
  pending.push(store.reserve({ sku, qty: 1 }));
}
const reserved = await Promise.all(pending);
const latest = await store.products({ page: 1 });
return { reserved: reserved.length, left: latest.items.reduce((sum, item) => sum + item.stock, 0) };
