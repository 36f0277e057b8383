// Date: the forms of dates that goja reads otherwise than all other engines do, and dates as a person reads them.
(function (global, kit) {
  'use strict';
  const { load, uncurry, plain, add } = kit;
  const { defineProperty } = Object;
  const { construct } = Reflect;
  const NativeString = String, slice = uncurry(String.prototype.slice), toUpper = uncurry(String.prototype.toUpperCase);
  const NativeDate = kit.NativeDate, test = uncurry(RegExp.prototype.test), replace = uncurry(String.prototype.replace);
  const noDate = /^\s*[-+]?\d{4,6}-\d\d-(3[2-9]|[4-9]\d)|^\s*\d{7,}\s*$/, lowerISO = /^\d{4}-\d\d-\d\dt[\d:.]+(?:z|[-+][\d:]+)?$/i, offset = /^([^T]*\d:\d\d(?::\d\d(?:\.\d+)?)?)([-+]\d\d:\d\d)/;
  function dateText(text) {
    if (test(noDate, text)) return 'invalid';
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
  return {};
});
