// Makes a customer, and pays a charge back: a small one at once, a large one when somebody approves it.
const customer = await stripe.PostCustomers({ body: { email: "ada@example.com", metadata: { source: "example" } } });
const { data: charges } = await stripe.GetCharges({ limit: 3 });

const small = await stripe.PostRefunds({ body: { charge: charges[0].id, amount: 100 } });
const large = await stripe.PostRefunds({ body: { charge: charges[0].id, amount: 20_000 } });
return { customer: customer.object, refunds: [small.object, large.object] };
