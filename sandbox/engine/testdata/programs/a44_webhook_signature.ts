// expect: {"sig":"e922a5d59a0194a3e4b4182c1b7a4af2217bab75f713da734511e1ec816c88af","ok":true,"no":false,"verify":[true,false],"digests":["218,57,163","227,176,196","56,176,96","207,131,225"]}
const enc = new TextEncoder();
async function sign(secret: string, body: string): Promise<string> { const key = await crypto.subtle.importKey('raw', enc.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']); const mac = await crypto.subtle.sign('HMAC', key, enc.encode(body)); return [...new Uint8Array(mac)].map((b) => b.toString(16).padStart(2, '0')).join(''); }
const safeEqual = (a: string, b: string) => a.length === b.length && [...a].reduce((d, c, i) => d | (c.charCodeAt(0) ^ b.charCodeAt(i)), 0) === 0;
const body = JSON.stringify({ id: 1, note: 'naïve' }); const sig = await sign('s3cr3t', body);
const key = await crypto.subtle.importKey('raw', enc.encode('k'), { name: 'HMAC', hash: { name: 'SHA-512' } }, false, ['sign', 'verify']); const mac = await crypto.subtle.sign('HMAC', key, enc.encode('m'));
const digests = await Promise.all(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].map(async (a) => new Uint8Array(await crypto.subtle.digest(a, enc.encode(''))).slice(0, 3).join()));
return { sig, ok: safeEqual(sig, await sign('s3cr3t', body)), no: safeEqual(sig, await sign('other', body)), verify: [await crypto.subtle.verify('HMAC', key, mac, enc.encode('m')), await crypto.subtle.verify('HMAC', key, mac, enc.encode('x'))], digests };
