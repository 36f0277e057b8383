// Runs once in each fresh runtime, before the program. `host` is the engine's side; what is returned here is what the
// engine calls back. Everything the engine relies on is captured now, so that a program that patches its globals can
// only confuse itself.
(function (host, namespaces) {
  'use strict';
  const global = globalThis;
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { create, defineProperty, freeze, getPrototypeOf, getOwnPropertyDescriptor, keys, entries } = Object;
  const NativeError = Error, NativeMap = Map, NativeSet = Set, NativeDate = Date, NativeRegExp = RegExp, NativeProxy = Proxy;
  const NativePromise = Promise, NativeSymbol = Symbol, NativeString = String, NativeTypeError = TypeError;
  const { Uint8Array: Bytes, ArrayBuffer: Buffer, BigInt: Big } = global;
  const apply = Reflect.apply;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const toBase64 = uncurry(Bytes.prototype.toBase64), fromBase64 = Bytes.fromBase64.bind(Bytes);
  const bigToString = uncurry(BigInt.prototype.toString), then = uncurry(NativePromise.prototype.then);
  const join = uncurry(Array.prototype.join), slice = uncurry(String.prototype.slice), replace = uncurry(String.prototype.replace);
  const mapEntries = uncurry(NativeMap.prototype.entries), setValues = uncurry(NativeSet.prototype.values);
  const dateToISO = uncurry(NativeDate.prototype.toISOString);
  const TypedArray = getPrototypeOf(Bytes);
  const isView = Buffer.isView.bind(Buffer);
  const hidden = (target, key, value) => defineProperty(target, key, { value, writable: true, configurable: true, enumerable: false });

  // --- values: JSON, plus tagged bytes and bigints --------------------------------------------------------------

  let encoding = false; // only while the engine serializes do bytes and bigints take their tagged form
  const bytesOf = (v) => (isView(v) ? new Bytes(v.buffer, v.byteOffset, v.byteLength) : new Bytes(v));
  const kindOf = (v) => (!isView(v) ? 'ArrayBuffer' : v instanceof Bytes ? 'Uint8Array' : 'ArrayBufferView');
  function bytesToJSON() {
    if (!encoding) return this;
    return { __codemode_binary_v1__: kindOf(this), data: toBase64(bytesOf(this)) };
  }
  hidden(TypedArray.prototype, 'toJSON', bytesToJSON);
  hidden(Buffer.prototype, 'toJSON', bytesToJSON);
  hidden(DataView.prototype, 'toJSON', bytesToJSON);
  hidden(BigInt.prototype, 'toJSON', function () {
    if (!encoding) throw new NativeTypeError('Do not know how to serialize a BigInt');
    return { __codemode_bigint_v1__: bigToString(this) };
  });
  function encode(value) {
    encoding = true;
    try {
      return stringify(value);
    } finally {
      encoding = false;
    }
  }
  function revive(v) {
    if (v === null || typeof v !== 'object') return v;
    if (typeof v.__codemode_bigint_v1__ === 'string') return Big(v.__codemode_bigint_v1__);
    if (typeof v.__codemode_binary_v1__ === 'string' && typeof v.data === 'string') {
      const bytes = fromBase64(v.data);
      return v.__codemode_binary_v1__ === 'ArrayBuffer' ? bytes.buffer : bytes;
    }
    for (const k of keys(v)) v[k] = revive(v[k]);
    return v;
  }
  const decode = (text, tagged) => (tagged ? revive(parse(text)) : parse(text));

  // --- errors ---------------------------------------------------------------------------------------------------

  function makeError(name, message, key, args) {
    const e = new NativeError(message);
    if (name && name !== 'Error') hidden(e, 'name', name);
    if (key) {
      e.idempotencyKey = key;
      e.args = args;
    }
    hidden(e, 'stack', (name || 'Error') + ': ' + message);
    return e;
  }
  // describe never throws, whatever was thrown: [message, stack].
  function describe(thrown) {
    try {
      if (thrown === null || thrown === undefined) return ['The program threw ' + thrown, ''];
      if (typeof thrown === 'string') return [thrown === '' ? 'The program threw an empty string' : thrown, ''];
      if (typeof thrown !== 'object' && typeof thrown !== 'function') return ['The program threw ' + NativeString(thrown), ''];
      let message = thrown.message;
      if (typeof message !== 'string') return ['The program threw ' + format(thrown, 0), ''];
      if (isArray(thrown.errors)) message += ': ' + join(thrown.errors.map((e) => describe(e)[0]), '; ');
      const name = typeof thrown.name === 'string' && thrown.name !== '' ? thrown.name : 'Error';
      return [message === '' ? name + ' (without a message)' : message, typeof thrown.stack === 'string' ? thrown.stack : ''];
    } catch {
      return ['The program threw a value that cannot be described', ''];
    }
  }
  const nameOf = (thrown) => {
    try {
      return thrown instanceof NativeError && typeof thrown.name === 'string' ? thrown.name : '';
    } catch {
      return '';
    }
  };

  // --- connectors -----------------------------------------------------------------------------------------------

  const known = new NativeMap(); // proxies by identity, so that printing one calls nothing
  function namespace(name, own) {
    const methods = create(null);
    const target = freeze(create(null));
    const proxy = new NativeProxy(target, {
      get(_, key) {
        // Asked by await and JSON.stringify of any object, so never a method's name.
        if (typeof key !== 'string' || key === 'then' || key === 'toJSON') return undefined;
        return (methods[key] ??= own?.[key] ?? ((...args) => host.issue(name, key, args[0], args.length > 0)));
      },
      set: () => false,
      has: () => false,
      ownKeys: () => [],
      getOwnPropertyDescriptor: () => undefined,
      getPrototypeOf: () => null,
    });
    known.set(proxy, name);
    return proxy;
  }
  const define = (name, value) => defineProperty(global, name, { value, writable: false, configurable: false, enumerable: true });
  for (const name of namespaces) define(name, namespace(name));

  const platform = create(null);
  platform.step = freeze((name, fn) => host.step(NativeString(name), fn));
  const noTool = (key) => NativePromise.reject(makeError('Error', `Tool "${key}" not found`));
  define('codemode', namespace('codemode', new NativeProxy(platform, { get: (_, key) => platform[key] ?? (() => noTool(key)) })));

  // run starts a step's function and reports its end; the engine delivers the value, live as on replay.
  function run(fn, done) {
    const value = (async () => {
      if (typeof fn !== 'function') throw new NativeTypeError('codemode.step takes a name and a function');
      return fn();
    })();
    then(value, (v) => done(true, v), (e) => done(false, e));
  }

  // --- console --------------------------------------------------------------------------------------------------

  const quote = (s) => stringify(s);
  function formatObject(v, depth, path) {
    const inner = (x) => format(x, depth + 1, [...path, v]);
    if (isArray(v)) return '[' + join(v.map(inner), ',') + ']';
    if (v instanceof NativeMap) return `Map(${v.size}) {` + join([...mapEntries(v)].map(([k, x]) => inner(k) + ' => ' + inner(x)), ', ') + '}';
    if (v instanceof NativeSet) return `Set(${v.size}) {` + join([...setValues(v)].map(inner), ', ') + '}';
    if (isView(v) && typeof v.length === 'number') return `${v.constructor?.name ?? 'TypedArray'}(${v.length}) [` + join([...v].slice(0, 100), ',') + ']';
    if (v instanceof Buffer) return `ArrayBuffer(${v.byteLength})`;
    if (v instanceof NativePromise) return 'Promise {}';
    const json = typeof v.toJSON === 'function' ? v.toJSON() : v;
    if (json !== v) return format(json, depth + 1, path);
    return '{' + join(entries(v).map(([k, x]) => quote(k) + ':' + inner(x)), ',') + '}';
  }
  function format(v, depth, path = []) {
    switch (typeof v) {
      case 'string': return depth === 0 ? v : quote(v);
      case 'bigint': return bigToString(v) + 'n';
      case 'function': return known.has(v) ? known.get(v) : `[function ${v.name || 'anonymous'}]`;
      case 'object': break;
      default: return NativeString(v);
    }
    if (v === null) return 'null';
    if (known.has(v)) return `[connector ${known.get(v)}]`;
    if (v instanceof NativeError) return printError(v);
    if (v instanceof NativeDate) return isNaN(v) ? 'Invalid Date' : dateToISO(v);
    if (v instanceof NativeRegExp) return NativeString(v);
    if (path.includes(v)) return '[circular]';
    if (depth > 8) return isArray(v) ? '[…]' : '{…}';
    return formatObject(v, depth, path);
  }
  const printError = (e) => {
    const head = `${e.name}: ${e.message}`;
    return e.cause === undefined ? head : head + ' (cause: ' + format(e.cause, 1) + ')';
  };
  const safely = (v) => {
    try {
      return format(v, 0);
    } catch {
      return '[unprintable]';
    }
  };
  const substitution = /%[sdifjoOc%]/g;
  function line(args) {
    let rest = args;
    let head = '';
    if (typeof args[0] === 'string' && args.length > 1 && args[0].includes('%')) {
      let next = 1;
      head = replace(args[0], substitution, (spec) => {
        if (spec === '%%') return '%';
        if (next >= args.length) return spec;
        const v = args[next++];
        if (spec === '%c') return '';
        if (spec === '%d' || spec === '%f') return NativeString(Number(v));
        if (spec === '%i') return NativeString(Math.trunc(Number(v)));
        return safely(v);
      });
      rest = args.slice(next);
      return join([head, ...rest.map(safely)], ' ');
    }
    return join(rest.map(safely), ' ');
  }
  const counts = create(null), timers = create(null);
  let indent = '';
  const print = (prefix) => (...args) => host.print(prefix + indent + line(args));
  const out = print(''), warn = print('[warn] '), err = print('[error] ');
  const table = (rows) => {
    if (rows === null || typeof rows !== 'object') return out(rows);
    for (const [k, row] of rows instanceof NativeMap ? mapEntries(rows) : entries(rows)) out(`${k}:`, row);
  };
  define('console', freeze({
    log: out, info: out, debug: out, dir: (v) => out(v), warn, error: err, table,
    trace: (...args) => out('Trace:', ...args),
    assert: (ok, ...args) => { if (!ok) err('Assertion failed' + (args.length ? ':' : ''), ...args); },
    group: (...args) => { if (args.length) out(...args); indent += '  '; },
    groupCollapsed: (...args) => { if (args.length) out(...args); indent += '  '; },
    groupEnd: () => { indent = slice(indent, 2); },
    count: (label = 'default') => out(`${label}: ${(counts[label] = (counts[label] ?? 0) + 1)}`),
    countReset: (label = 'default') => { counts[label] = 0; },
    time: (label = 'default') => { timers[label] = host.now(); },
    timeLog: (label = 'default', ...args) => out(`${label}: ${host.now() - (timers[label] ?? host.now())}ms`, ...args),
    timeEnd: (label = 'default') => out(`${label}: ${host.now() - (timers[label] ?? host.now())}ms`),
  }));

  // --- globals --------------------------------------------------------------------------------------------------

  const plain = (name, value) => hidden(global, name, value);
  plain('setTimeout', (fn, delay, ...args) => host.setTimer(fn, Number(delay), false, args));
  plain('setInterval', (fn, delay, ...args) => host.setTimer(fn, Number(delay), true, args));
  plain('setImmediate', (fn, ...args) => host.setTimer(fn, 0, false, args));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) plain(name, (id) => host.clearTimer(id));
  const resolved = NativePromise.resolve();
  plain('queueMicrotask', (fn) => {
    if (typeof fn !== 'function') throw new NativeTypeError('queueMicrotask takes a function');
    then(resolved, () => fn());
  });
  plain('performance', freeze({ now: () => host.now() - host.start, timeOrigin: host.start }));
  const uuid = () => {
    const b = new Bytes(16);
    host.random(b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    let hex = '';
    for (const x of b) hex += (x < 16 ? '0' : '') + x.toString(16);
    return `${slice(hex, 0, 8)}-${slice(hex, 8, 12)}-${slice(hex, 12, 16)}-${slice(hex, 16, 20)}-${slice(hex, 20)}`;
  };
  plain('crypto', freeze({
    randomUUID: uuid,
    getRandomValues(view) {
      if (!isView(view)) throw new NativeTypeError('getRandomValues takes an integer typed array');
      if (view.byteLength > 65536) throw new NativeError('getRandomValues fills at most 65536 bytes');
      host.random(bytesOf(view));
      return view;
    },
  }));
  plain('structuredClone', (v) => clone(v, new NativeMap()));
  function clone(v, seen) {
    if (typeof v === 'function' || typeof v === 'symbol') throw new NativeTypeError(`${NativeString(v)} could not be cloned.`);
    if (v === null || typeof v !== 'object') return v;
    if (seen.has(v)) return seen.get(v);
    const keep = (c) => (seen.set(v, c), c);
    if (v instanceof NativeDate) return keep(new NativeDate(+v));
    if (v instanceof NativeRegExp) return keep(new NativeRegExp(v.source, v.flags));
    if (v instanceof Buffer) return keep(v.slice(0));
    if (isView(v)) return keep(new v.constructor(v.buffer.slice(v.byteOffset, v.byteOffset + v.byteLength)));
    if (v instanceof NativeMap) {
      const c = keep(new NativeMap());
      for (const [k, x] of v) c.set(clone(k, seen), clone(x, seen));
      return c;
    }
    if (v instanceof NativeSet) {
      const c = keep(new NativeSet());
      for (const x of v) c.add(clone(x, seen));
      return c;
    }
    const c = keep(isArray(v) ? [] : v instanceof NativeError ? new v.constructor(v.message) : {});
    for (const k of keys(v)) c[k] = clone(v[k], seen);
    return c;
  }
  const outside = join([...namespaces, 'codemode'], ', ');
  plain('fetch', async () => {
    throw new NativeTypeError(`fetch is not available: programs reach the outside through connectors (${outside})`);
  });

  // --- no code from strings -------------------------------------------------------------------------------------

  const refuse = () => {
    throw new EvalError('Code generation from strings disallowed for this context');
  };
  plain('eval', refuse);
  for (const sample of [function () {}, async function () {}, function* () {}]) {
    const proto = getPrototypeOf(sample);
    const { name } = proto.constructor;
    const constructor = function () { refuse(); };
    defineProperty(constructor, 'prototype', { value: proto, writable: false });
    defineProperty(constructor, 'name', { value: name });
    defineProperty(proto, 'constructor', { value: constructor, writable: false, configurable: false, enumerable: false });
    if (name === 'Function') plain('Function', constructor);
  }

  return freeze({ encode, decode, describe, nameOf, makeError, run });
});
