'use strict';

// The TypeScript side of package signals/payload: what it writes that package reads, and the other way round.

const { createCipheriv, createDecipheriv, randomBytes } = require('node:crypto');
const { promisify } = require('node:util');
const zlib = require('node:zlib');
const { ValueError } = require('@temporalio/common');
const { temporal } = require('@temporalio/proto');

const { Payload } = temporal.api.common.v1;
const deflate = promisify(zlib.deflate);
const inflate = promisify(zlib.inflate);

const compressFrom = 128 * 1024; // smaller payloads stay readable everywhere
const maxOpened = 64 << 20;

const ENCODING = 'encoding';
const INNER = 'inner-encoding';
const KEY_ID = 'encryption-key-id';
const ZLIB = 'binary/zlib';
const UTF16 = 'binary/codemode-utf16';
const ENCRYPTED = 'binary/encrypted';

const bytes = (text) => new Uint8Array(Buffer.from(text));
const text = (data) => (data ? Buffer.from(data).toString() : '');
const marshal = (payload) => Payload.encode(payload).finish();
const unmarshal = (data) => {
  const { metadata, data: value } = Payload.decode(data);
  return { metadata, data: value };
};

class CodemodeCodec {
  constructor({ keys = '', required = false } = {}) {
    this.keys = parseKeys(keys);
    this.newest = this.keys.keys().next().value;
    this.required = required;
    if (required && this.keys.size === 0) {
      throw new ValueError('encryption is required, and there are no keys: make one with  openssl rand -base64 32');
    }
  }

  async encode(payloads) {
    return Promise.all(payloads.map(async (payload) => this.encrypt(await compress(payload))));
  }

  async decode(payloads) {
    return Promise.all(payloads.map(async (payload) => open(this.decrypt(payload))));
  }

  encrypt(payload) {
    if (this.newest === undefined) return payload;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keys.get(this.newest), nonce);
    cipher.setAAD(Buffer.from(this.newest));
    const sealed = Buffer.concat([nonce, cipher.update(marshal(payload)), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { [ENCODING]: bytes(ENCRYPTED), [KEY_ID]: bytes(this.newest) }, data: new Uint8Array(sealed) };
  }

  decrypt(payload) {
    if (text(payload.metadata?.[ENCODING]) !== ENCRYPTED) {
      if (this.required) throw new ValueError('a payload came in clear, and encryption is required');
      return payload;
    }
    const id = text(payload.metadata[KEY_ID]);
    const key = this.keys.get(id);
    if (!key) throw new ValueError(`a payload is encrypted with key ${JSON.stringify(id)}: add that key to the codec`);
    const data = Buffer.from(payload.data);
    let plain;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(id));
      decipher.setAuthTag(data.subarray(-16));
      plain = Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
    } catch {
      throw new ValueError(`a payload does not open with key ${JSON.stringify(id)}: the key is another one, or the ` +
        'payload was changed');
    }
    return unmarshal(plain);
  }
}

// The text of keys is never repeated in an error.
function parseKeys(list) {
  const keys = new Map();
  for (const item of list.split(',').map((s) => s.trim()).filter(Boolean)) {
    const colon = item.indexOf(':');
    const secret = Buffer.from(item.slice(colon + 1), 'base64');
    if (colon < 1 || secret.length !== 32) {
      throw new ValueError(`key ${keys.size + 1} is not ID:BASE64 of 32 bytes: make one with  openssl rand -base64 32`);
    }
    const id = item.slice(0, colon);
    if (keys.has(id)) throw new ValueError(`two keys have the id ${JSON.stringify(id)}`);
    keys.set(id, secret);
  }
  return keys;
}

// Workers also write UTF-16 where nothing else fits. Nothing that they take from clients is so large.
async function compress(payload) {
  const whole = marshal(payload);
  if (whole.length < compressFrom) return payload;
  const data = new Uint8Array(await deflate(whole, { level: 1 }));
  return data.length < whole.length ? { metadata: { [ENCODING]: bytes(ZLIB) }, data } : payload;
}

async function open(payload) {
  const encoding = text(payload.metadata?.[ENCODING]);
  if (encoding !== ZLIB && encoding !== UTF16) return payload;
  const data = await inflate(payload.data, { maxOutputLength: maxOpened });
  if (encoding === ZLIB) return unmarshal(data);
  const { [INNER]: inner, ...metadata } = payload.metadata;
  return { metadata: { ...metadata, [ENCODING]: inner }, data: bytes(data.toString('utf16le')) };
}

module.exports = { CodemodeCodec };
