// The globals of a web runtime. What is small and common is made here; the rest is loaded when it is first touched, so
// that a program pays only for what it uses.
(function (kit) {
  'use strict';
  const { host, namespaces, apply, uncurry, hidden, plain, bytesOf, isView, then } = kit;
  const global = globalThis;
  const { defineProperty, freeze, create, getPrototypeOf, hasOwn, keys } = Object;
  const NativeMap = Map, NativePromise = Promise, NativeTypeError = TypeError, NativeError = Error, NativeString = String;
  const { construct, get: reflectGet } = Reflect;
  const includes = uncurry(String.prototype.includes), toUpper = uncurry(String.prototype.toUpperCase), slice = uncurry(String.prototype.slice);
  const fixed = (target, key, value) => defineProperty(target, key, { value, writable: false, configurable: false, enumerable: false });

  // --- loaded on first use --------------------------------------------------------------------------------------

  const loaded = create(null), waiting = create(null);
  // load runs a script of the prelude once, and moves the globals it gives to the global object.
  function load(name) {
    if (loaded[name]) return loaded[name];
    const unmet = (waiting[name] ?? []).filter(([target, key]) => isLazy(target, key));
    for (const [target, key] of unmet) delete target[key];
    const scope = create(global);
    const exports = (loaded[name] = host.load(name)(scope, kit, { exports: {} }) ?? scope);
    for (const [target, key] of unmet) if (target === global) plain(key, exports[key]);
    return exports;
  }
  const getters = new WeakSet();
  const isLazy = (target, key) => getters.has(Reflect.getOwnPropertyDescriptor(target, key)?.get);
  function lazily(name, target, ...names) {
    for (const key of names) {
      const get = function () {
        load(name);
        return reflectGet(target, key, this);
      };
      getters.add(get);
      (waiting[name] ??= []).push([target, key]);
      const set = function (value) {
        defineProperty(this, key, { value, writable: true, configurable: true, enumerable: this !== target });
      };
      defineProperty(target, key, { get, set, configurable: true, enumerable: false });
    }
  }
  kit.load = load;
  const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) fixed(Symbol, name, Symbol('Symbol.' + name));
  lazily('url', global, 'URL', 'URLSearchParams');
  lazily('iterator', global, 'Iterator');
  lazily('iterator', iteratorPrototype, 'map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find', Symbol.dispose);
  lazily('disposable', global, 'DisposableStack', 'AsyncDisposableStack', 'SuppressedError');
  lazily('es', Array, 'fromAsync');
  lazily('es', Math, 'sumPrecise');
  lazily('es', RegExp, 'escape');
  lazily('es', String.prototype, 'isWellFormed', 'toWellFormed');
  lazily('es', Map.prototype, 'getOrInsert', 'getOrInsertComputed');
  lazily('events', global, 'DOMException', 'Event', 'CustomEvent', 'EventTarget', 'AbortController', 'AbortSignal');
  lazily('text', global, 'TextEncoder', 'TextDecoder', 'atob', 'btoa', 'Blob');
  lazily('http', global, 'Headers', 'Request', 'Response');
  lazily('clone', global, 'structuredClone');
  lazily('crypto', global, 'crypto');
  lazily('intl', global, 'Intl');

  // --- timers, clock, identity ----------------------------------------------------------------------------------

  plain('setTimeout', (fn, delay, ...args) => host.setTimer(fn, Number(delay), false, args));
  plain('setInterval', (fn, delay, ...args) => host.setTimer(fn, Number(delay), true, args));
  plain('setImmediate', (fn, ...args) => host.setTimer(fn, 0, false, args));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) plain(name, (id) => host.clearTimer(id));
  const resolved = NativePromise.resolve();
  plain('queueMicrotask', (fn) => {
    if (typeof fn !== 'function') throw new NativeTypeError('queueMicrotask takes a function');
    then(resolved, () => fn());
  });
  const marks = create(null), now = () => host.now() - host.start;
  const mark = (name, options) => freeze({ name: NativeString(name), entryType: 'mark', startTime: (marks[name] = options?.startTime ?? now()), duration: 0 });
  const at = (point, otherwise) => (typeof point === 'number' ? point : marks[point] ?? otherwise);
  const measure = (name, from, to) => {
    const start = at(from?.start ?? from, 0), end = at(from?.end ?? to, now());
    return freeze({ name: NativeString(name), entryType: 'measure', startTime: start, duration: end - start });
  };
  plain('performance', freeze({ now, timeOrigin: host.start, mark, measure, toJSON: () => ({ timeOrigin: host.start }) }));
  plain('self', global);
  plain('navigator', freeze({ userAgent: 'codemode', language: 'en-US', languages: freeze(['en-US']), hardwareConcurrency: 1, onLine: true }));
  const outside = kit.join([...namespaces, 'codemode'], ', ');
  plain('fetch', async () => {
    throw new NativeTypeError(`fetch is not available: programs reach the outside through connectors (${outside})`);
  });

  // Nothing is ever collected, as far as a program can tell: what it saw would differ from pass to pass.
  class WeakRef {
    #target;
    constructor(target) {
      if ((typeof target !== 'object' || target === null) && typeof target !== 'function' && typeof target !== 'symbol') throw new NativeTypeError('WeakRef: invalid target');
      this.#target = target;
    }
    deref() { return this.#target; }
  }
  class FinalizationRegistry {
    constructor(cleanup) {
      if (typeof cleanup !== 'function') throw new NativeTypeError('FinalizationRegistry: cleanup must be callable');
    }
    register() {}
    unregister() { return false; }
  }
  for (const C of [WeakRef, FinalizationRegistry]) {
    defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });
    plain(C.name, C);
  }

  // --- newer language -------------------------------------------------------------------------------------------

  const add = (target, functions) => {
    for (const key of keys(functions)) hidden(target, key, functions[key]);
  };
  function grouped(items, callback, find) {
    if (typeof callback !== 'function') throw new NativeTypeError(NativeString(callback) + ' is not a function');
    let i = 0;
    for (const item of items) find(callback(item, i++)).push(item);
  }
  add(Object, {
    groupBy(items, callback) {
      const groups = create(null);
      grouped(items, callback, (key) => (groups[typeof key === 'symbol' ? key : (key = `${key}`)] ??= []));
      return groups;
    },
  });
  add(NativeMap, {
    groupBy(items, callback) {
      const groups = new NativeMap();
      grouped(items, callback, (key) => groups.get(key) ?? groups.set(key, []).get(key));
      return groups;
    },
  });
  add(NativePromise, {
    withResolvers() {
      let resolve, reject;
      const promise = new this((a, b) => { resolve = a; reject = b; });
      return { promise, resolve, reject };
    },
    try(fn, ...args) { return new this((resolve) => resolve(fn(...args))); },
  });
  const stackOf = uncurry(Error.prototype.toString);
  add(NativeError, {
    captureStackTrace(target) {
      const { stack } = new NativeError();
      let head = 'Error';
      try { head = stackOf(target); } catch { /* whatever it is, it has a stack */ }
      hidden(target, 'stack', head + slice(stack, stack.indexOf('\n')));
    },
  });
  NativeError.stackTraceLimit = 10;
  const TypedArray = getPrototypeOf(Uint8Array), typedFrom = TypedArray.from;
  add(TypedArray, {
    from(source, ...rest) { return apply(typedFrom, this, [typeof source === 'string' ? [...source] : source, ...rest]); },
  });

  // --- JSON -----------------------------------------------------------------------------------------------------

  function revive(reviver, holder, key) {
    const value = holder[key];
    if (value !== null && typeof value === 'object') {
      for (const k of keys(value)) {
        const inner = revive(reviver, value, k);
        if (inner === undefined) delete value[k];
        else defineProperty(value, k, { value: inner, writable: true, configurable: true, enumerable: true });
      }
    }
    return apply(reviver, holder, [key, value]);
  }
  add(JSON, {
    parse(text, reviver) {
      const value = host.parse(text);
      return typeof reviver === 'function' ? revive(reviver, { '': value }, '') : value;
    },
  });

  // --- regular expressions --------------------------------------------------------------------------------------

  const NativeRegExp = RegExp, nativeExec = uncurry(RegExp.prototype.exec);
  // What goja's own constructor would misread or refuse is rewritten first.
  const special = (pattern, flags) => (typeof pattern === 'string' && (includes(pattern, '\\p{') || includes(pattern, '\\P{'))) || (typeof flags === 'string' && (includes(flags, 'd') || includes(flags, 'v')));
  function withIndices(re, flags) {
    fixed(re, 'hasIndices', true);
    fixed(re, 'flags', flags);
    hidden(re, 'constructor', { [Symbol.species]: Wrapped }); // copies made by matchAll and split have indices too
    hidden(re, 'exec', function exec(text) {
      const match = nativeExec(re, (text = NativeString(text)));
      if (match) match.indices = indicesOf(re, text, match);
      return match;
    });
    return re;
  }
  function indicesOf(re, text, match) {
    const { spans, names } = host.indices(re.source, re.ignoreCase, re.multiline, re.dotAll, re.unicode, text, match.index);
    const pairs = [];
    for (let i = 0; i < spans.length; i += 2) pairs.push(spans[i] < 0 ? undefined : [spans[i], spans[i + 1]]);
    pairs.groups = undefined;
    if (match.groups) {
      pairs.groups = create(null);
      for (const key of keys(match.groups)) pairs.groups[key] = pairs[names.lastIndexOf(key)];
    }
    return pairs;
  }
  function Wrapped(pattern, flags) {
    if (new.target === undefined && flags === undefined && pattern instanceof NativeRegExp && pattern.constructor === Wrapped) return pattern;
    const target = new.target ?? Wrapped;
    if (flags === undefined && pattern instanceof NativeRegExp && hasOwn(pattern, 'hasIndices')) flags = pattern.flags;
    if (pattern instanceof NativeRegExp && flags !== undefined) pattern = pattern.source;
    const wanted = flags === undefined ? undefined : NativeString(flags);
    const args = special(pattern, wanted) ? host.regexp(NativeString(pattern), wanted ?? '') : [pattern, flags];
    const re = target === Wrapped ? new NativeRegExp(args[0], args[1]) : construct(NativeRegExp, [args[0], args[1]], target);
    return args[2] ? withIndices(re, wanted) : re;
  }
  defineProperty(Wrapped, 'name', { value: 'RegExp', configurable: true });
  defineProperty(Wrapped, 'prototype', { value: NativeRegExp.prototype, writable: false });
  // goja's fast paths look for its own constructor.
  defineProperty(Wrapped, Symbol.species, { get() { return this === Wrapped ? NativeRegExp : this; }, configurable: true });
  lazily('es', Wrapped, 'escape');
  hidden(NativeRegExp.prototype, 'constructor', Wrapped);
  plain('RegExp', Wrapped);

  // --- dates, numbers and text in a person's form ---------------------------------------------------------------

  const NativeDate = Date, test = uncurry(NativeRegExp.prototype.test), replace = uncurry(String.prototype.replace);
  const isoStart = /^\s*[-+]?\d{4,6}-\d\d-(3[2-9]|[4-9]\d)/, lowerISO = /^\d{4}-\d\d-\d\dt[\d:.]+(?:z|[-+][\d:]+)?$/i, offset = /^([^T]*\d:\d\d(?::\d\d(?:\.\d+)?)?)([-+]\d\d:\d\d)/;
  // Forms that goja reads otherwise than all other engines do.
  function dateText(text) {
    if (test(isoStart, text)) return 'invalid';
    if (test(lowerISO, text)) return toUpper(text);
    return replace(text, offset, '$1 $2');
  }
  function DateWrapped(...args) {
    if (new.target === undefined) return dateString(new NativeDate());
    if (args.length === 1 && typeof args[0] === 'string') args[0] = dateText(args[0]);
    return new.target === DateWrapped ? new NativeDate(...args) : construct(NativeDate, args, new.target);
  }
  defineProperty(DateWrapped, 'name', { value: 'Date', configurable: true });
  defineProperty(DateWrapped, 'length', { value: 7, configurable: true });
  defineProperty(DateWrapped, 'prototype', { value: NativeDate.prototype, writable: false });
  add(DateWrapped, { now: NativeDate.now, UTC: NativeDate.UTC, parse: (text) => NativeDate.parse(dateText(NativeString(text))) });
  const toDate = uncurry(NativeDate.prototype.toDateString), toISO = uncurry(NativeDate.prototype.toISOString), toNumber = uncurry(NativeDate.prototype.getTime);
  const clock = (d) => slice(toISO(d), -13, -5) + ' GMT+0000 (Coordinated Universal Time)';
  const valid = (d) => toNumber(d) === toNumber(d);
  const dateString = (d) => (valid(d) ? toDate(d) + ' ' + clock(d) : 'Invalid Date');
  const formatted = (d, locales, options, required, defaults) => {
    if (!valid(d)) return 'Invalid Date';
    return load('intl').formatDate(d, locales, options, required, defaults);
  };
  add(NativeDate.prototype, {
    constructor: DateWrapped,
    toString() { return dateString(this); },
    toTimeString() { return valid(this) ? clock(this) : 'Invalid Date'; },
    toLocaleString(locales, options) { return formatted(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales, options) { return formatted(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales, options) { return formatted(this, locales, options, 'time', 'time'); },
  });
  plain('Date', DateWrapped);

  const numberValue = uncurry(Number.prototype.valueOf), bigValue = uncurry(BigInt.prototype.valueOf);
  add(Number.prototype, { toLocaleString(locales, options) { return load('intl').formatNumber(numberValue(this), locales, options); } });
  add(BigInt.prototype, { toLocaleString(locales, options) { return load('intl').formatNumber(bigValue(this), locales, options); } });
  const compare = uncurry(String.prototype.localeCompare);
  add(String.prototype, {
    localeCompare(that, locales, options) {
      if (locales === undefined && options === undefined) return compare(this, that);
      return load('intl').compare(NativeString(this), NativeString(that), locales, options);
    },
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
  delete global.GoError;
});
