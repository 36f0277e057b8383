// Date in UTC, for a process whose own time zone is another one: goja takes local time from the process. It replaces
// what reads or writes local time, before anything else runs, so that programs see here what they see in a child. The
// texts of dates are missing that the prelude words itself: see prelude/dates.js.
(function (global) {
  'use strict';
  const NativeDate = Date, { prototype, UTC, now, parse: nativeParse } = NativeDate;
  const { apply, construct } = Reflect, { defineProperty } = Object, { toPrimitive } = Symbol;
  const { isNaN } = Number, uncurry = (f) => Function.prototype.call.bind(f);
  const slice = uncurry(String.prototype.slice), test = uncurry(RegExp.prototype.test);
  const getTime = uncurry(prototype.getTime), toUTCString = uncurry(prototype.toUTCString);

  const hidden = (owner, name, value) => defineProperty(owner, name, { value, writable: true, configurable: true });
  function method(owner, name, length, f) {
    defineProperty(f, 'name', { value: name, configurable: true });
    defineProperty(f, 'length', { value: length, configurable: true });
    hidden(owner, name, f);
  }

  for (const part of ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds']) {
    for (const verb of ['get', 'set']) {
      const inUTC = prototype[verb + 'UTC' + part];
      if (inUTC) method(prototype, verb + part, inUTC.length, { f(...args) { return apply(inUTC, this, args); } }.f);
    }
  }
  const { getUTCFullYear, setUTCFullYear } = prototype;
  if (prototype.getYear) method(prototype, 'getYear', 0, { f() { return apply(getUTCFullYear, this, []) - 1900; } }.f);
  if (prototype.setYear) {
    method(prototype, 'setYear', 1, { f(year) {
      getTime(this);
      year = +year;
      const whole = Math.trunc(year);
      return apply(setUTCFullYear, this, [whole >= 0 && whole <= 99 ? 1900 + whole : year]);
    } }.f);
  }
  method(prototype, 'getTimezoneOffset', 0, { f() { return isNaN(getTime(this)) ? NaN : 0; } }.f);
  method(prototype, 'toDateString', 0, { f() {
    const text = toUTCString(this); // Thu, 01 Jan 1970 00:00:00 GMT
    return isNaN(getTime(this)) ? text : slice(text, 0, 3) + ' ' + slice(text, 8, 11) + ' ' + slice(text, 5, 7) + ' ' + slice(text, 12, -13);
  } }.f);

  // The forms of goja's parser for ISO dates, which takes a time without a zone for local; it reads all else by words,
  // where a zone in front counts unless another follows.
  const day = '(?!-000000)(?:\\d{4}|[+-]\\d{6})(?:-(?!00)\\d\\d(?:-(?!00)\\d\\d|(?!-))|(?!-))', time = 'T\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?';
  const local = new RegExp('^' + day + time + '$'), iso = new RegExp('^' + day + '(?:' + time + ')?(?:Z|[+-]\\d\\d(?::?\\d\\d)?)?$');
  const parse = (text) => nativeParse(test(local, text) ? text + 'Z' : test(iso, text) ? text : 'UTC ' + text);

  const isObject = (v) => (typeof v === 'object' && v !== null) || typeof v === 'function';
  function isDate(v) {
    try {
      getTime(v);
      return true;
    } catch {
      return false;
    }
  }
  function primitive(v) {
    const own = v[toPrimitive];
    if (own !== undefined && own !== null) {
      const value = apply(own, v, ['default']);
      if (!isObject(value)) return value;
      throw new TypeError('Cannot convert object to primitive value');
    }
    for (const name of ['valueOf', 'toString']) {
      const value = typeof v[name] === 'function' ? v[name]() : v;
      if (!isObject(value)) return value;
    }
    throw new TypeError('Cannot convert object to primitive value');
  }
  function instant(v) {
    if (isObject(v)) {
      if (isDate(v)) return v;
      v = primitive(v);
    }
    return typeof v === 'string' ? parse(v) : v;
  }
  function DateInUTC(...args) { // only the prelude calls it, and always with new
    if (args.length > 1) args = [apply(UTC, undefined, args)];
    else if (args.length === 1) args = [instant(args[0])];
    return construct(NativeDate, args, new.target);
  }
  defineProperty(DateInUTC, 'name', { value: 'Date', configurable: true });
  defineProperty(DateInUTC, 'prototype', { value: prototype, writable: false });
  hidden(DateInUTC, 'now', now);
  hidden(DateInUTC, 'UTC', UTC);
  method(DateInUTC, 'parse', 1, { f(text) { return parse(String(text)); } }.f);
  hidden(prototype, 'constructor', DateInUTC);
  hidden(global, 'Date', DateInUTC);
})
