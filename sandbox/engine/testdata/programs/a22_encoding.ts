// expect: {"hex":"68c3a96c6c6fe282ac","back":"hé€","jwt":"eyJhbGciOiJub25lIn0.eyJzdWIiOiLDvCIsImV4cCI6MX0.","payload":{"sub":"ü","exp":1},"digest":"956b29648c82018b8f0ef432d3635f17d9612b3612ee8175c9d9c910e599b94f","crc":"3610a686","uuid":true,"bytes":3,"rand":4}
const enc = new TextEncoder(), dec = new TextDecoder();
const toHex = (b: Uint8Array) => Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
const fromHex = (h: string) => Uint8Array.from(h.match(/../g)!, (x) => parseInt(x, 16));
const b64url = (s: string) => btoa(String.fromCharCode(...enc.encode(s))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const jwt = [b64url(JSON.stringify({ alg: 'none' })), b64url(JSON.stringify({ sub: 'ü', exp: 1 })), ''].join('.');
const payload = JSON.parse(dec.decode(Uint8Array.from(atob(jwt.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))));
const digest = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', enc.encode(jwt))));
const crc = (() => { let c = ~0; for (const b of enc.encode('hello')) { c ^= b; for (let k = 0; k < 8; k++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0); } return (~c >>> 0).toString(16); })();
return { hex: toHex(enc.encode('héllo€')), back: dec.decode(fromHex('68c3a9e282ac')), jwt, payload, digest, crc, uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), bytes: new Blob(['€']).size, rand: crypto.getRandomValues(new Uint8Array(4)).length };
