// Randomness from the execution's seed, and hashes.
(function (global, kit) {
  'use strict';
  const { host, bytesOf, isView } = kit;
  const { freeze } = Object;
  const Bytes = Uint8Array;
  const fail = (message, name) => new (kit.load('events').DOMException)(message, name);
  const integers = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'];
  function randomUUID() {
    const b = new Bytes(16);
    host.random(b);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    const hex = b.toHex();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
  function getRandomValues(view) {
    if (!isView(view) || !integers.includes(view[Symbol.toStringTag])) throw fail('getRandomValues takes an integer typed array', 'TypeMismatchError');
    if (view.byteLength > 65536) throw fail('getRandomValues fills at most 65536 bytes', 'QuotaExceededError');
    host.random(bytesOf(view));
    return view;
  }
  const hashes = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
  function hashOf(algorithm) {
    const name = String(algorithm?.name ?? algorithm).toUpperCase();
    if (!hashes.includes(name)) throw fail(`Unrecognized algorithm name: ${name}. Known: ${hashes.join(', ')}`, 'NotSupportedError');
    return name;
  }
  const data = (v) => {
    if (!isView(v) && !(v instanceof ArrayBuffer)) throw new TypeError('crypto.subtle takes an ArrayBuffer or a view of one; make one with new TextEncoder().encode(text)');
    return bytesOf(v).slice();
  };
  const secrets = new WeakMap();
  const secretOf = (algorithm, key) => {
    if (String(algorithm?.name ?? algorithm).toUpperCase() !== 'HMAC' || !secrets.has(key)) throw fail('Only HMAC is supported', 'NotSupportedError');
    return secrets.get(key);
  };
  const hmac = (key, v) => host.hmac(key.hash, key.secret, data(v));
  const subtle = freeze({
    async digest(algorithm, v) { return host.digest(hashOf(algorithm), data(v)); },
    async importKey(format, raw, algorithm, extractable, usages) {
      if (format !== 'raw' || String(algorithm?.name ?? algorithm).toUpperCase() !== 'HMAC') throw fail('Only raw HMAC keys are supported', 'NotSupportedError');
      const hash = hashOf(algorithm.hash), secret = data(raw);
      const key = freeze({ type: 'secret', extractable: !!extractable, algorithm: freeze({ name: 'HMAC', hash: freeze({ name: hash }), length: secret.length * 8 }), usages: freeze([...(usages ?? [])]) });
      secrets.set(key, { hash, secret });
      return key;
    },
    async sign(algorithm, key, v) { return hmac(secretOf(algorithm, key), v); },
    async verify(algorithm, key, signature, v) {
      const a = new Bytes(hmac(secretOf(algorithm, key), v)), b = data(signature);
      return a.length === b.length && a.every((x, i) => x === b[i]);
    },
  });
  return { crypto: freeze({ randomUUID, getRandomValues, subtle }) };
});
