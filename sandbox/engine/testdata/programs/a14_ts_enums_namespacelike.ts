// expect: {"levels":[0,5,6,3,"Info"],"color":"GREEN","ab":3,"seen":["a"],"is":[true,false],"config":{"retries":3,"mode":"fast"},"guard":"not a string","keys":["0","3","5","6","Debug","Info","Warn","Error"]}
enum Level { Debug, Info = 5, Warn, Error = 'ERR'.length }
enum Color { Red = 'RED', Green = 'GREEN' }
const enum Flag { A = 1 << 0, B = 1 << 1, AB = A | B }
declare const external: string;
type Handler<E extends keyof Events> = (payload: Events[E]) => void;
interface Events { login: { user: string }; logout: undefined }
class Emitter { #h: { [K in keyof Events]?: Handler<K>[] } = {}; on<K extends keyof Events>(k: K, h: Handler<K>) { (this.#h[k] ??= [] as any).push(h as any); return () => { this.#h[k] = (this.#h[k] as any[])!.filter((x) => x !== h) as any; }; } emit<K extends keyof Events>(k: K, p: Events[K]) { (this.#h[k] as Handler<K>[] | undefined)?.forEach((h) => h(p)); } }
const e = new Emitter(), seen: string[] = []; const off = e.on('login', ({ user }) => seen.push(user)); e.emit('login', { user: 'a' }); off(); e.emit('login', { user: 'b' });
const isColor = (x: unknown): x is Color => Object.values(Color).includes(x as Color);
const config = { retries: 3, mode: 'fast' } as const satisfies { retries: number; mode: 'fast' | 'slow' };
function assertIsString(v: unknown): asserts v is string { if (typeof v !== 'string') throw new TypeError('not a string'); }
let guard = ''; try { assertIsString(5); } catch (x: any) { guard = x.message; }
return { levels: [Level.Debug, Level.Info, Level.Warn, Level.Error, Level[5]], color: Color.Green, ab: Flag.AB, seen, is: [isColor('RED'), isColor('BLUE')], config, guard, keys: Object.keys(Level) };
