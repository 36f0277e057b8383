// expect: {"pages":5,"customers":["c0","c1","c2","c3","c4","c5","c6"]}
async function* cursorPages() {
  let cursor: string | null | undefined;
  do {
    const page: { items: any[]; nextCursor: string | null } = await tools.listOrdersCursor({ cursor });
    yield page.items;
    cursor = page.nextCursor;
  } while (cursor);
}
let pages = 0; const ids = new Set<string>();
for await (const items of cursorPages()) { pages++; for (const { customerId } of items) ids.add(customerId); if (pages === 5) break; }
return { pages, customers: [...ids].sort() };
