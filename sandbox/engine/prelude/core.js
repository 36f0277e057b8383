// Runs first in each fresh runtime. kit.host is the engine's side; kit.exports is what the engine calls back. Everything
// the engine relies on is captured now, so that a program that patches its globals can only confuse itself.
(function (kit) {
  'use strict';
  const { host, namespaces } = kit;
  const { synchronous } = host;
  const global = globalThis;
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { assign, create, defineProperty, freeze, getPrototypeOf, keys } = Object;
  const NativeError = Error, NativeMap = Map, NativeNumber = Number, NativeProxy = Proxy, NativePromise = Promise, NativeString = String, NativeTypeError = TypeError;
  const { Uint8Array: Bytes, ArrayBuffer: Buffer } = global;
  const apply = Reflect.apply;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const toBase64 = uncurry(Bytes.prototype.toBase64), join = uncurry(Array.prototype.join), map = uncurry(Array.prototype.map);
  const bigToString = uncurry(BigInt.prototype.toString), then = uncurry(NativePromise.prototype.then);
  const some = uncurry(Array.prototype.some), forEach = uncurry(Array.prototype.forEach), test = uncurry(RegExp.prototype.test);
  const NativeSet = Set, setAdd = uncurry(Set.prototype.add), setHas = uncurry(Set.prototype.has);
  const TypedArray = getPrototypeOf(Bytes);
  const isView = Buffer.isView.bind(Buffer);
  const hidden = (target, key, value) => defineProperty(target, key, { value, writable: true, configurable: true, enumerable: false });
  const define = (name, value) => defineProperty(global, name, { value, writable: false, configurable: false, enumerable: true });
  const bytesOf = (v) => (isView(v) ? new Bytes(v.buffer, v.byteOffset, v.byteLength) : new Bytes(v));

  // --- values: JSON, plus tagged bytes and bigints --------------------------------------------------------------

  let encoding = false; // only while the engine serializes do bytes and bigints take their tagged form
  let made, tags; // how many of these, and in a second attempt which
  const kindOf = (v) => (!isView(v) ? 'ArrayBuffer' : v instanceof Bytes ? 'Uint8Array' : 'ArrayBufferView');
  function bytesToJSON() {
    if (!encoding) return this;
    return tag({ __codemode_binary_v1__: kindOf(this), data: toBase64(bytesOf(this)) });
  }
  hidden(TypedArray.prototype, 'toJSON', bytesToJSON);
  hidden(Buffer.prototype, 'toJSON', bytesToJSON);
  hidden(DataView.prototype, 'toJSON', bytesToJSON);
  hidden(BigInt.prototype, 'toJSON', function () {
    if (!encoding) throw new NativeTypeError('Do not know how to serialize a BigInt');
    return tag({ __codemode_bigint_v1__: bigToString(this) });
  });
  function tag(value) {
    made++;
    if (tags) setAdd(tags, value);
    return value;
  }
  // Objects of the program's own may have keys that read like those of a tag. The host counts these in the text, which
  // costs next to nothing, and only if there are more than tags are the others escaped.
  function encode(value) {
    encoding = true;
    made = 0;
    tags = null;
    try {
      const text = stringify(value);
      if (typeof text !== 'string' || host.markers(text) === made) return text;
      tags = new NativeSet();
      return stringify(value, escapeKeys);
    } finally {
      encoding = false;
    }
  }
  const marker = /^~*__codemode_(?:bigint|binary)_v1__$/;
  function escapeKeys(_, value) {
    if (typeof value !== 'object' || value === null || isArray(value) || setHas(tags, value)) return value;
    const names = keys(value);
    if (!some(names, (name) => test(marker, name))) return value;
    const copy = create(null);
    forEach(names, (name) => { copy[test(marker, name) ? '~' + name : name] = value[name]; });
    return copy;
  }

  // --- errors ---------------------------------------------------------------------------------------------------

  function makeError(name, message, key, args, details, nonRetryable) {
    const e = new NativeError(message);
    if (name && name !== 'Error') hidden(e, 'name', name);
    if (key) {
      e.idempotencyKey = key;
      e.args = args;
    }
    if (details !== undefined) e.details = details;
    if (nonRetryable) e.nonRetryable = true;
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
      if (typeof message !== 'string') return ['The program threw ' + kit.format(thrown), ''];
      if (isArray(thrown.errors)) message += ': ' + join(map(thrown.errors, (e) => describe(e)[0]), '; ');
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
        return (methods[key] ??= own?.[key] ?? ((...args) => host.issue(name, key, args[0], args.length > 0, synchronous)));
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
  for (const name of namespaces) define(name, namespace(name));

  const platform = create(null);
  platform.step = freeze((name, fn) => host.step(NativeString(name), fn));
  const ask = (method, args) => host.issue('codemode', method, args, true);
  platform.search = freeze((query, options) => {
    const args = { query: NativeString(query) };
    if (options?.connector !== undefined) args.connector = NativeString(options.connector);
    if (options?.limit !== undefined) args.limit = NativeNumber(options.limit);
    return ask('search', args);
  });
  platform.describe = freeze((target) => ask('describe', { target: NativeString(target) }));
  platform.run = freeze((name, input) => {
    const args = { name: NativeString(name), input };
    return then(ask('run', args), (found) => (found.source === undefined ? found : host.snippet(args.name, found.source, input)));
  });
  const sleep = (ms, signal) => new NativePromise((resolve, reject) => {
    const fail = () => reject(signal.reason ?? makeError('AbortError', 'This operation was aborted'));
    if (signal?.aborted) return fail();
    const handle = host.setTimer(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms, false, []);
    const stop = () => {
      host.clearTimer(handle);
      fail();
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
  platform.sleep = freeze((ms, options) => {
    const wait = NativeNumber(ms);
    if (!(wait >= 0)) return NativePromise.reject(new NativeTypeError('codemode.sleep takes a number of milliseconds, not ' + kit.format(ms)));
    return sleep(wait, options?.signal);
  });
  const noTool = (key) => NativePromise.reject(makeError('Error', `Tool "${key}" not found`));
  // Who runs programs without a platform may give a namespace of that name in its place.
  if (!known.has(global.codemode)) define('codemode', namespace('codemode', new NativeProxy(platform, { get: (_, key) => platform[key] ?? (() => noTool(key)) })));

  // run starts a step's function and reports its end; the engine delivers the value, live as on replay.
  function run(fn, done) {
    const value = (async () => {
      if (typeof fn !== 'function') throw new NativeTypeError('codemode.step takes a name and a function');
      return fn();
    })();
    then(value, (v) => done(true, v), (e) => done(false, e));
  }

  async function runSnippet(main, callResult, input) {
    try {
      const value = await main();
      return callResult && typeof value === 'function' ? await value(input) : value;
    } catch (e) {
      const error = makeError('Error', 'Code execution failed: ' + describe(e)[0]);
      hidden(error, 'cause', e);
      throw error;
    }
  }

  const add = (target, functions) => {
    for (const key of keys(functions)) hidden(target, key, functions[key]);
  };
  assign(kit, { add, NativeDate: Date, apply, uncurry, hidden, define, bytesOf, isView, known, join, then, bigToString, plain: (name, value) => hidden(global, name, value) });
  kit.exports = freeze({ encode, parse, describe, nameOf, makeError, run, runSnippet });
});
