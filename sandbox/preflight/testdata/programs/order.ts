async function main() {
  const customers = await crm.find_customers({ query: "Ada" });
  if (customers.length === 0) {
    return { error: "no such customer" };
  }
  const customer = customers[0];
  const { items } = await store.products({ page: 1 });
  const cheapest = items.filter((item) => item.stock > 0).sort((a, b) => a.price - b.price)[0];
  const order = await store.order({ customer: customer.id, items: [{ sku: cheapest.sku, qty: 2 }] });
  await mail.send({ to: customer.email, subject: "Your order", body: `Order ${order.number} of ${order.total}` });
  return order.number;
}
