// structuredClone.
(function (global, kit) {
  'use strict';
  const { isView, NativeDate } = kit;
  const { keys } = Object;
  const errors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  const refuse = (what) => new (kit.load('events').DOMException)(`${what} could not be cloned.`, 'DataCloneError');
  const kind = (v) => Object.prototype.toString.call(v).slice(8, -1);

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone takes a value');
    if (options?.transfer?.length > 0) throw refuse('A transferred value');
    return clone(value, new Map());
  }
  function clone(v, seen) {
    if (typeof v === 'symbol' || typeof v === 'function') throw refuse(typeof v === 'symbol' ? String(v) : `function ${v.name}`);
    if (v === null || typeof v !== 'object') return v;
    if (seen.has(v)) return seen.get(v);
    const keep = (c) => (seen.set(v, c), c);
    const simple = leaf(v, seen);
    if (simple !== undefined) return keep(simple);
    if (v instanceof Map) {
      const c = keep(new Map());
      for (const [k, x] of [...Map.prototype.entries.call(v)]) c.set(clone(k, seen), clone(x, seen));
      return c;
    }
    if (v instanceof Set) {
      const c = keep(new Set());
      for (const x of [...Set.prototype.values.call(v)]) c.add(clone(x, seen));
      return c;
    }
    if (v instanceof Error) return cloneError(v, seen, keep);
    if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet || kit.known.has(v)) throw refuse(kit.known.has(v) ? 'A connector' : `#<${kind(v)}>`);
    const c = keep(Array.isArray(v) ? new Array(v.length) : {});
    for (const k of keys(v)) Object.defineProperty(c, k, { value: clone(v[k], seen), writable: true, configurable: true, enumerable: true });
    return c;
  }
  function leaf(v, seen) {
    if (v instanceof NativeDate) return new NativeDate(v.getTime());
    if (v instanceof RegExp) return new RegExp(v.source, v.flags);
    if (v instanceof ArrayBuffer) return v.slice(0);
    if (isView(v)) {
      const buffer = clone(v.buffer, seen);
      const C = v instanceof DataView ? DataView : global[v[Symbol.toStringTag]];
      return new C(buffer, v.byteOffset, v.length ?? v.byteLength);
    }
    if (v instanceof Boolean || v instanceof Number || v instanceof String || v instanceof BigInt) return Object(v.valueOf());
    return undefined;
  }
  function cloneError(v, seen, keep) {
    const C = errors.find((E) => v.name === E.name) ?? Error;
    const c = keep(new C(v.message));
    for (const k of ['stack', 'cause', 'errors']) {
      if (Object.hasOwn(v, k)) Object.defineProperty(c, k, { value: clone(v[k], seen), writable: true, configurable: true, enumerable: false });
    }
    return c;
  }
  return { structuredClone };
});
