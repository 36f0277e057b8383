// The console: lines as a person would read them, printed by the engine.
(function (kit) {
  'use strict';
  const { host, known, uncurry, define, join, isView, bigToString } = kit;
  const { stringify } = JSON;
  const { isArray } = Array;
  const { create, freeze, entries } = Object;
  const NativeError = Error, NativeMap = Map, NativeSet = Set, NativeDate = Date, NativeRegExp = RegExp, NativePromise = Promise, NativeString = String;
  const Buffer = ArrayBuffer;
  const slice = uncurry(String.prototype.slice), replace = uncurry(String.prototype.replace);
  const mapEntries = uncurry(NativeMap.prototype.entries), setValues = uncurry(NativeSet.prototype.values);
  const dateToISO = uncurry(NativeDate.prototype.toISOString);

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
  kit.format = (v) => format(v, 0);
});
