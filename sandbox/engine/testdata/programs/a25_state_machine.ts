// expect: {"state":"ready","trace":["idle-FETCH->loading","loading-FAIL->error","error-RETRY->loading","loading-FAIL->error","error-RETRY->loading","loading-OK->ready","ready-FETCH->ignored"]}
const machine = { idle: { FETCH: 'loading' }, loading: { OK: 'ready', FAIL: 'error' }, error: { RETRY: 'loading' }, ready: {} } as const;
type State = keyof typeof machine;
type Ev = { [S in State]: keyof (typeof machine)[S] }[State];
let state: State = 'idle'; const trace: string[] = [];
const send = (e: Ev) => { const next = (machine[state] as Partial<Record<Ev, State>>)[e]; trace.push(`${state}-${e}->${next ?? 'ignored'}`); if (next) state = next; };
const load = async () => { send('FETCH'); for (let i = 0; i < 5; i++) { try { await tools.flaky({ key: 'sm', failures: 2 }); send('OK'); return; } catch { send('FAIL'); send('RETRY'); } } };
await load(); send('FETCH');
return { state, trace };
