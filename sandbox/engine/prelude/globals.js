// The globals of a web runtime. What is small and common is made here; the rest is loaded when it is first touched, so
// that a program pays only for what it uses.
(function (kit) {
  'use strict';
  const { host, namespaces, apply, uncurry, hidden, plain, then } = kit;
  const global = globalThis;
  const { defineProperty, freeze, create, getPrototypeOf, hasOwn, keys } = Object;
  const NativeMap = Map, NativePromise = Promise, NativeTypeError = TypeError, NativeError = Error, NativeString = String;
  const { construct } = Reflect;
  const includes = uncurry(String.prototype.includes), slice = uncurry(String.prototype.slice);
  const fixed = (target, key, value) => defineProperty(target, key, { value, writable: false, configurable: false, enumerable: false });

  // --- loaded on first use: see web_lazy.go ---------------------------------------------------------------------

  const { load } = host;
  kit.load = load;
  for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) fixed(Symbol, name, Symbol('Symbol.' + name));
  const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  hidden(iteratorPrototype, Symbol.dispose, function () { this.return?.(); });
  host.shelve(iteratorPrototype);
  // Properties of objects that have others: the module defines them when it runs.
  function lazily(module, target, key) {
    const get = function () {
      delete target[key];
      load(module);
      return target[key];
    };
    const set = function (value) { defineProperty(this, key, { value, writable: true, configurable: true, enumerable: this !== target }); };
    defineProperty(target, key, { get, set, configurable: true, enumerable: false });
  }
  lazily('es', Array, 'fromAsync');
  lazily('es', Math, 'sumPrecise');
  lazily('es', String.prototype, 'isWellFormed');
  lazily('es', String.prototype, 'toWellFormed');
  lazily('es', Map.prototype, 'getOrInsert');
  lazily('es', Map.prototype, 'getOrInsertComputed');

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
  plain('self', global);
  const outside = kit.join([...namespaces, 'codemode'], ', ');
  if (namespaces.includes('outbound')) plain('fetch', (...args) => load('fetch').fetch(...args));
  else plain('fetch', async () => {
    throw new NativeTypeError(`fetch is not available: programs reach the outside through connectors (${outside})`);
  });

  // --- newer language -------------------------------------------------------------------------------------------

  const { add } = kit;
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

  lazily('dates', global, 'Date');
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
