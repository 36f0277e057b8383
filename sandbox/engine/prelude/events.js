// DOMException, events and abort signals.
(function (global, kit) {
  'use strict';
  const { host, hidden } = kit;
  const { defineProperty } = Object;
  const tag = (C) => defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });

  const codes = {
    IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5, NoModificationAllowedError: 7,
    NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14,
    InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21,
    QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25,
  };
  class DOMException extends Error {
    constructor(message = '', options = 'Error') {
      const name = typeof options === 'object' && options !== null ? (options.name ?? 'Error') : options;
      super(message, options?.cause === undefined ? undefined : { cause: options.cause });
      hidden(this, 'name', String(name));
    }
    get code() { return codes[this.name] ?? 0; }
  }
  tag(DOMException);
  for (const name of Object.keys(codes)) {
    const constant = name.replace(/Error$/, '').replace(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase() + '_ERR';
    for (const target of [DOMException, DOMException.prototype]) defineProperty(target, constant, { value: codes[name], enumerable: true });
  }

  const inner = new WeakMap(); // what an event's dispatch knows of it
  class Event {
    constructor(type, init = {}) {
      if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
      const { bubbles = false, cancelable = false, composed = false } = init ?? {};
      inner.set(this, { type: String(type), bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed, target: null, current: null, phase: 0, time: host.now() - host.start });
    }
    get type() { return inner.get(this).type; }
    get target() { return inner.get(this).target; }
    get srcElement() { return this.target; }
    get currentTarget() { return inner.get(this).current; }
    get eventPhase() { return inner.get(this).phase; }
    get bubbles() { return inner.get(this).bubbles; }
    get cancelable() { return inner.get(this).cancelable; }
    get composed() { return inner.get(this).composed; }
    get defaultPrevented() { return !!inner.get(this).prevented; }
    get returnValue() { return !this.defaultPrevented; }
    get timeStamp() { return inner.get(this).time; }
    get isTrusted() { return false; }
    get cancelBubble() { return !!inner.get(this).stopped; }
    set cancelBubble(stop) { if (stop) this.stopPropagation(); }
    composedPath() { return this.currentTarget ? [this.currentTarget] : []; }
    preventDefault() {
      const state = inner.get(this);
      if (state.cancelable && !state.passive) state.prevented = true;
    }
    stopPropagation() { inner.get(this).stopped = true; }
    stopImmediatePropagation() { inner.get(this).stopped = inner.get(this).ended = true; }
  }
  ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].forEach((name, value) => {
    for (const target of [Event, Event.prototype]) defineProperty(target, name, { value, enumerable: true });
  });
  class CustomEvent extends Event {
    #detail;
    constructor(type, init = {}) {
      super(type, init);
      this.#detail = init?.detail ?? null;
    }
    get detail() { return this.#detail; }
  }

  const listeners = new WeakMap();
  const listOf = (target) => listeners.get(target) ?? (listeners.set(target, []), listeners.get(target));
  const captures = (options) => (typeof options === 'object' && options !== null ? !!options.capture : !!options);
  class EventTarget {
    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      const self = this ?? global, list = listOf(self), capture = captures(options), { once = false, passive = false, signal } = Object(options);
      type = String(type);
      if (signal?.aborted || list.some((l) => l.type === type && l.callback === callback && l.capture === capture)) return;
      list.push({ type, callback, capture, once: !!once, passive: !!passive });
      signal?.addEventListener('abort', () => this.removeEventListener(type, callback, options), { once: true });
    }
    removeEventListener(type, callback, options) {
      const list = listOf(this), capture = captures(options);
      const i = list.findIndex((l) => l.type === String(type) && l.callback === callback && l.capture === capture);
      if (i >= 0) list.splice(i, 1)[0].removed = true;
    }
    dispatchEvent(event) {
      const state = inner.get(event);
      if (!state) throw new TypeError('dispatchEvent takes an Event');
      if (state.phase !== 0) throw new DOMException('The event is already being dispatched', 'InvalidStateError');
      Object.assign(state, { target: this, current: this, phase: 2, ended: false });
      for (const l of listOf(this).slice()) {
        if (state.ended) break;
        if (l.type === state.type && !l.removed) notify(this, l, event, state);
      }
      Object.assign(state, { current: null, phase: 0 });
      return !state.prevented;
    }
  }
  // An exception in a listener does not reach the dispatcher; like in any host, it is an uncaught one.
  function notify(target, listener, event, state) {
    if (listener.once) target.removeEventListener(listener.type, listener.callback, listener.capture);
    state.passive = listener.passive;
    try {
      if (typeof listener.callback === 'function') listener.callback.call(target, event);
      else listener.callback.handleEvent?.(event);
    } catch (error) {
      host.setTimer(() => { throw error; }, 0, false, []);
    }
    state.passive = false;
  }

  const making = Symbol('making');
  const aborts = new WeakMap();
  class AbortSignal extends EventTarget {
    #handler = null;
    constructor(key) {
      if (key !== making) throw new TypeError('Illegal constructor');
      super();
      aborts.set(this, { aborted: false, reason: undefined, dependents: [] });
    }
    get aborted() { return aborts.get(this).aborted; }
    get reason() { return aborts.get(this).reason; }
    get onabort() { return this.#handler; }
    set onabort(fn) {
      if (this.#handler) this.removeEventListener('abort', this.#handler);
      this.#handler = typeof fn === 'function' ? fn : null;
      if (this.#handler) this.addEventListener('abort', this.#handler);
    }
    throwIfAborted() { if (this.aborted) throw this.reason; }
    static abort(reason) {
      const signal = new AbortSignal(making);
      abort(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(making);
      host.setTimer(() => abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), Number(ms), false, []);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(making), list = [...signals];
      const first = list.find((s) => s.aborted);
      if (first) abort(signal, first.reason);
      else for (const s of list) aborts.get(s).dependents.push(signal);
      return signal;
    }
  }
  function abort(signal, reason = new DOMException('This operation was aborted', 'AbortError')) {
    const state = aborts.get(signal);
    if (state.aborted) return;
    state.aborted = true;
    state.reason = reason;
    signal.dispatchEvent(new Event('abort'));
    for (const dependent of state.dependents) abort(dependent, reason);
  }
  class AbortController {
    #signal = new AbortSignal(making);
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
  }
  for (const C of [Event, CustomEvent, EventTarget, AbortSignal, AbortController]) tag(C);
  return { DOMException, Event, CustomEvent, EventTarget, AbortController, AbortSignal };
});
