// expect: {"v":26,"calls":["class Counter","make()","add(1)","add(2)","add(1)"]}
const calls: string[] = [];
function logged(value: Function, ctx: ClassMethodDecoratorContext) { return function (this: any, ...args: any[]) { calls.push(`${String(ctx.name)}(${args})`); return value.apply(this, args); }; }
function bound(_: Function, ctx: ClassMethodDecoratorContext) { ctx.addInitializer(function (this: any) { this[ctx.name] = this[ctx.name].bind(this); }); }
function sealed<T extends new (...a: any[]) => any>(C: T, ctx: ClassDecoratorContext) { calls.push('class ' + ctx.name); return C; }
function double(_: undefined, ctx: ClassFieldDecoratorContext) { return (v: number) => v * 2; }
@sealed class Counter { @double start = 5; accessor step = 2; #n = 0; @logged add(x: number) { this.#n += x * this.step; return this.#n; } @bound get() { return this.start + this.#n; } @logged static make() { return new Counter(); } }
const c = Counter.make(); c.add(1); c.add(2); c.step = 10; c.add(1); const { get } = c;
return { v: get(), calls };
