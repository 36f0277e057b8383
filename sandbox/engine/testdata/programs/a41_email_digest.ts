// expect: {"sent":[{"id":"msg_1","to":"ada@example.com"},{"id":"msg_2","to":"grace@example.com"},{"id":"msg_3","to":"alan@example.com"},{"id":"msg_4","to":"søren@example.com"},{"id":"msg_5","to":"山田太郎@example.com"},{"id":"msg_6","to":"zoë@example.com"}],"skipped":["c7: Customer not found: c7"],"order":["Ada Lovelace","Édith Piaf","Zoë Q.","Grace Hopper","Søren Kierkegaard","Alan Turing","山田太郎"],"body":"Dear ADA,\n  your tier is ★★★; city: nowhere"}
interface Customer { id: string; name: string; email: string | null; tier: 'gold' | 'silver' | 'bronze'; address?: { city: string; zip: string } }
const ids = Array.from({ length: 8 }, (_, i) => `c${i}`);
const settled = await Promise.allSettled(ids.map((id) => tools.getCustomer({ id }) as Promise<Customer>));
const customers = settled.filter((s): s is PromiseFulfilledResult<Customer> => s.status === 'fulfilled').map((s) => s.value);
const skipped = settled.flatMap((s, i) => (s.status === 'rejected' ? [`${ids[i]}: ${s.reason.message}`] : []));
const template = ({ name, tier, address: { city = 'nowhere' } = {} as any }: Customer) => `Dear ${name.split(' ')[0].toUpperCase()},\n  your tier is ${tier === 'gold' ? '★'.repeat(3) : tier}; city: ${city}`;
const sent: any[] = []; for (const c of customers) { if (!c.email) continue; sent.push(await tools.sendEmail({ to: c.email, subject: `Hi ${c.name}`, body: template(c) })); }
const rank = { gold: 0, silver: 1, bronze: 2 } as const satisfies Record<Customer['tier'], number>;
return { sent, skipped, order: customers.sort((a, b) => rank[a.tier] - rank[b.tier] || a.name.localeCompare(b.name)).map((c) => c.name), body: template(customers[0]) };
