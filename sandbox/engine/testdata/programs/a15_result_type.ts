// expect: {"temps":[11.5,14],"errors":["Unknown city \"Mars\""]}
type Result<T, E = Error> = { ok: true; value: T } | { ok: false; error: E };
const Ok = <T,>(value: T): Result<T, never> => ({ ok: true, value });
const Err = <E,>(error: E): Result<never, E> => ({ ok: false, error });
async function attempt<T>(p: Promise<T>): Promise<Result<T, string>> { try { return Ok(await p); } catch (e) { return Err(e instanceof Error ? e.message : String(e)); } }
const results = await Promise.all(['London', 'Mars', 'Paris'].map((city) => attempt(tools.getWeather({ city }) as Promise<{ tempC: number }>)));
const temps = results.flatMap((r) => (r.ok ? [r.value.tempC] : []));
const errors = results.filter((r): r is Extract<typeof r, { ok: false }> => !r.ok).map((r) => r.error);
return { temps, errors };
