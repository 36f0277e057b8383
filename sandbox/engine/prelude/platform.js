// performance, navigator and weak references.
(function (global, kit) {
  'use strict';
  const { host } = kit;
  const { freeze, create, defineProperty } = Object;
  const marks = create(null), now = () => host.now() - host.start;
  const mark = (name, options) => freeze({ name: String(name), entryType: 'mark', startTime: (marks[name] = options?.startTime ?? now()), duration: 0 });
  const at = (point, otherwise) => (typeof point === 'number' ? point : marks[point] ?? otherwise);
  const measure = (name, from, to) => {
    const start = at(from?.start ?? from, 0), end = at(from?.end ?? to, now());
    return freeze({ name: String(name), entryType: 'measure', startTime: start, duration: end - start });
  };
  const performance = freeze({ now, timeOrigin: host.start, mark, measure, toJSON: () => ({ timeOrigin: host.start }) });
  const navigator = freeze({ userAgent: 'codemode', language: 'en-US', languages: freeze(['en-US']), hardwareConcurrency: 1, onLine: true });
  // Nothing is ever collected, as far as a program can tell: what it saw would differ from pass to pass.
  class WeakRef {
    #target;
    constructor(target) {
      if ((typeof target !== 'object' || target === null) && typeof target !== 'function' && typeof target !== 'symbol') throw new TypeError('WeakRef: invalid target');
      this.#target = target;
    }
    deref() { return this.#target; }
  }
  class FinalizationRegistry {
    constructor(cleanup) {
      if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable');
    }
    register() {}
    unregister() { return false; }
  }
  for (const C of [WeakRef, FinalizationRegistry]) {
    defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });
  }
  return { performance, navigator, WeakRef, FinalizationRegistry };
});
