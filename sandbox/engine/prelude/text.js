// Text, bytes and base64.
(function (global, kit) {
  'use strict';
  const { host, bytesOf, isView } = kit;
  const { defineProperty } = Object;
  const tag = (C) => defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });
  const Bytes = Uint8Array, Buffer = ArrayBuffer;

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new Bytes(host.utf8(String(text))); }
    encodeInto(text, target) {
      let read = 0, written = 0;
      for (const c of String(text)) {
        const bytes = this.encode(c);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += c.length;
        written += bytes.length;
      }
      return { read, written };
    }
  }

  const labels = {
    'utf-8': 'utf-8 utf8 unicode-1-1-utf-8', 'utf-16le': 'utf-16le utf-16 ucs-2 unicode', 'utf-16be': 'utf-16be',
    'windows-1252': 'windows-1252 latin1 iso-8859-1 ascii us-ascii l1 cp1252 iso8859-1',
  };
  const encodingOf = (label) => {
    const wanted = String(label).trim().toLowerCase();
    const found = Object.keys(labels).find((name) => labels[name].split(' ').includes(wanted));
    if (!found) throw new RangeError(`The "${label}" encoding is not supported`);
    return found;
  };
  class TextDecoder {
    #encoding; #fatal; #ignoreBOM; #rest = new Bytes(0); #started = false;
    constructor(label = 'utf-8', options = {}) {
      this.#encoding = encodingOf(label);
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input = new Bytes(0), options = {}) {
      if (!isView(input) && !(input instanceof Buffer)) throw new TypeError('TextDecoder.decode takes an ArrayBuffer or a view of one');
      let bytes = bytesOf(input);
      if (this.#rest.length > 0) {
        const joined = new Bytes(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      const result = host.decodeText(bytes.slice(), this.#encoding, !!options?.stream);
      this.#rest = options?.stream ? bytes.slice(result.used) : new Bytes(0);
      if (this.#fatal && result.bad) throw new TypeError('The encoded data was not valid for encoding ' + this.#encoding);
      return this.#stripBOM(result.text, !!options?.stream);
    }
    #stripBOM(text, stream) {
      const first = !this.#started;
      this.#started = stream && (this.#started || text !== '');
      return first && !this.#ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }
  }

  const invalid = (message) => new (kit.load('events').DOMException)(message, 'InvalidCharacterError');
  function btoa(data) {
    if (arguments.length === 0) throw new TypeError('btoa takes a string');
    const text = String(data), bytes = new Bytes(text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 255) throw invalid('Invalid character');
      bytes[i] = code;
    }
    return bytes.toBase64();
  }
  function atob(data) {
    if (arguments.length === 0) throw new TypeError('atob takes a string');
    let text = String(data).replace(/[\t\n\f\r ]+/g, '');
    if (text.length % 4 === 0) text = text.replace(/==?$/, '');
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalid('The string to be decoded is not correctly encoded.');
    const bytes = Bytes.fromBase64(text);
    let out = '';
    for (let i = 0; i < bytes.length; i += 4096) out += String.fromCharCode(...bytes.subarray(i, i + 4096));
    return out;
  }

  const contents = new WeakMap();
  const partBytes = (part) => (contents.get(part) ?? (isView(part) || part instanceof Buffer ? bytesOf(part).slice() : new Bytes(host.utf8(String(part)))));
  class Blob {
    #type;
    constructor(parts = [], options = {}) {
      const all = [...parts].map(partBytes), bytes = new Bytes(all.reduce((n, b) => n + b.length, 0));
      let at = 0;
      for (const b of all) {
        bytes.set(b, at);
        at += b.length;
      }
      contents.set(this, bytes);
      this.#type = String(options?.type ?? '').toLowerCase();
    }
    get size() { return contents.get(this).length; }
    get type() { return this.#type; }
    slice(start = 0, end = this.size, type = '') { return new Blob([contents.get(this).slice(start, end)], { type }); }
    async arrayBuffer() { return contents.get(this).slice().buffer; }
    async bytes() { return contents.get(this).slice(); }
    async text() { return new TextDecoder().decode(contents.get(this)); }
  }
  for (const C of [TextEncoder, TextDecoder, Blob]) tag(C);
  return { TextEncoder, TextDecoder, atob, btoa, Blob };
});
