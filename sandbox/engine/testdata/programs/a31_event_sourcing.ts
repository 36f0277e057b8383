// expect: {"final":{"balance":30,"version":3,"owner":"ada"},"err":"RangeError: insufficient: 30 < 99","kv":{"balance":30,"version":3,"owner":"ada"},"missing":null,"history":[0,50,30]}
type Ev = { type: 'opened'; owner: string } | { type: 'deposited'; amount: number } | { type: 'withdrawn'; amount: number };
interface Account { owner?: string; balance: number; version: number }
const apply = (s: Account, e: Ev): Account => { switch (e.type) { case 'opened': return { ...s, owner: e.owner, version: s.version + 1 }; case 'deposited': return { ...s, balance: s.balance + e.amount, version: s.version + 1 }; case 'withdrawn': { if (e.amount > s.balance) throw new RangeError(`insufficient: ${s.balance} < ${e.amount}`); return { ...s, balance: s.balance - e.amount, version: s.version + 1 }; } default: { const _never: never = e; return _never; } } };
const events: Ev[] = [{ type: 'opened', owner: 'ada' }, { type: 'deposited', amount: 50 }, { type: 'withdrawn', amount: 20 }];
const final = events.reduce(apply, { balance: 0, version: 0 } as Account);
let err: string | undefined; try { apply(final, { type: 'withdrawn', amount: 99 }); } catch (e) { err = String(e); }
await tools.kvSet({ key: 'acct', value: final });
return { final, err, kv: await tools.kvGet({ key: 'acct' }), missing: await tools.kvGet({ key: 'nope' }), history: events.map((_, i) => events.slice(0, i + 1).reduce(apply, { balance: 0, version: 0 }).balance) };
