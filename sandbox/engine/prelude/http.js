// Headers, Request and Response as data: nothing here reaches a network.
(function (global, kit) {
  'use strict';
  const { host, bytesOf, isView } = kit;
  const { defineProperty } = Object;
  const tag = (C) => defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true });
  const text = () => kit.load('text');

  const nameOf = (name) => {
    const n = String(name);
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(n)) throw new TypeError(`Headers: ${JSON.stringify(n)} is an invalid header name.`);
    return n.toLowerCase();
  };
  const valueOf = (value) => {
    const v = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\r\n]/.test(v)) throw new TypeError(`Headers: ${JSON.stringify(v)} is an invalid header value.`);
    return v;
  };
  class Headers {
    #list = new Map(); // by lower-case name, lists of values
    constructor(init) {
      if (init === null || init === undefined) return;
      if (typeof init !== 'object') throw new TypeError('Headers takes an object, a list of pairs or Headers');
      const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const pair of pairs) {
        const both = [...pair];
        if (both.length !== 2) throw new TypeError('Headers: each pair must be a name and a value');
        this.append(both[0], both[1]);
      }
    }
    append(name, value) {
      const n = nameOf(name), v = valueOf(value);
      if (this.#list.has(n)) this.#list.get(n).push(v);
      else this.#list.set(n, [v]);
    }
    set(name, value) { this.#list.set(nameOf(name), [valueOf(value)]); }
    get(name) { return this.#list.get(nameOf(name))?.join(', ') ?? null; }
    has(name) { return this.#list.has(nameOf(name)); }
    delete(name) { this.#list.delete(nameOf(name)); }
    getSetCookie() { return [...(this.#list.get('set-cookie') ?? [])]; }
    forEach(fn, self) { for (const [name, value] of this) fn.call(self, value, name, this); }
    *entries() {
      for (const name of [...this.#list.keys()].sort()) {
        if (name === 'set-cookie') for (const value of this.#list.get(name)) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toJSON() { return Object.fromEntries(this.entries()); }
  }

  // A body's bytes and the type that it implies.
  function bodyOf(body) {
    if (typeof body === 'string') return [new Uint8Array(host.utf8(body)), 'text/plain;charset=UTF-8'];
    if (isView(body) || body instanceof ArrayBuffer) return [bytesOf(body).slice(), null];
    if (body instanceof text().Blob) return [null, body.type || null, body];
    if (body instanceof kit.load('url').URLSearchParams) return [new Uint8Array(host.utf8(String(body))), 'application/x-www-form-urlencoded;charset=UTF-8'];
    return [new Uint8Array(host.utf8(String(body))), 'text/plain;charset=UTF-8'];
  }
  class Body {
    #bytes = null; #blob; #used = false;
    fill(body, headers) {
      if (body === null || body === undefined) return;
      const [bytes, type, blob] = bodyOf(body);
      this.#bytes = bytes ?? new Uint8Array(0);
      this.#blob = blob;
      if (type && !headers.has('content-type')) headers.set('content-type', type);
    }
    copy(from) {
      if (from.#used) throw new TypeError('Body has already been consumed.');
      this.#bytes = from.#bytes;
      this.#blob = from.#blob;
    }
    async take() {
      if (this.#used) throw new TypeError('Body is unusable: Body has already been read');
      this.#used = this.#bytes !== null;
      return this.#blob ? this.#blob.bytes() : (this.#bytes ?? new Uint8Array(0)).slice();
    }
    now() { return this.#blob ? this.#blob.bytes() : this.#bytes; } // a promise for a Blob's
    get used() { return this.#used; }
    get empty() { return this.#bytes === null; }
  }
  const bodies = new WeakMap();
  const reading = {
    async text() { return new (text().TextDecoder)().decode(await bodies.get(this).take()); },
    async json() { return JSON.parse(await this.text()); },
    async bytes() { return bodies.get(this).take(); },
    async arrayBuffer() { return (await this.bytes()).buffer; },
    async blob() { return new (text().Blob)([await this.bytes()], { type: this.headers.get('content-type') ?? '' }); },
  };
  function readable(C) {
    for (const name of Object.keys(reading)) defineProperty(C.prototype, name, { value: reading[name], writable: true, configurable: true });
    defineProperty(C.prototype, 'bodyUsed', { get() { return bodies.get(this).used; }, configurable: true });
    tag(C);
  }

  let from; // puts where an answer came from
  class Response {
    #state;
    static { from = (response, url) => { response.#state.url = url; return response; }; }
    constructor(body = null, init = {}) {
      const { status = 200, statusText = '', headers } = init ?? {};
      if (!(status >= 200 && status <= 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
      this.#state = { status: Math.trunc(status), statusText: String(statusText), headers: new Headers(headers), url: '', type: 'default' };
      bodies.set(this, new Body());
      if (body !== null && body !== undefined && [204, 205, 304].includes(this.status)) throw new TypeError('Response with null body status cannot have body');
      bodies.get(this).fill(body, this.headers);
    }
    get status() { return this.#state.status; }
    get statusText() { return this.#state.statusText; }
    get ok() { return this.status >= 200 && this.status < 300; }
    get headers() { return this.#state.headers; }
    get url() { return this.#state.url; }
    get type() { return this.#state.type; }
    get redirected() { return false; }
    get body() { return null; }
    clone() {
      const c = new Response(null, this);
      bodies.get(c).copy(bodies.get(this));
      return c;
    }
    static json(data, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(data), { ...init, headers });
    }
    static redirect(url, status = 302) {
      return new Response(null, { status, headers: { location: String(new (kit.load('url').URL)(url)) } });
    }
    static error() {
      const r = new Response();
      Object.assign(r.#state, { status: 0, type: 'error' });
      return r;
    }
  }
  readable(Response);

  const normal = (method) => (/^(delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method);
  class Request {
    #state;
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : null;
      const url = from ? from.url : String(new (kit.load('url').URL)(String(input)));
      const method = normal(String(init.method ?? from?.method ?? 'GET'));
      const headers = new Headers(init.headers ?? from?.headers);
      const pick = (name, otherwise) => init[name] ?? from?.[name] ?? otherwise;
      this.#state = { url, method, headers, signal: init.signal ?? from?.signal ?? new (kit.load('events').AbortController)().signal };
      for (const [name, otherwise] of [['mode', 'cors'], ['credentials', 'same-origin'], ['cache', 'default'], ['redirect', 'follow'], ['referrer', 'about:client'], ['integrity', ''], ['keepalive', false]]) this.#state[name] = pick(name, otherwise);
      bodies.set(this, new Body());
      if (init.body !== null && init.body !== undefined) {
        if (method === 'GET' || method === 'HEAD') throw new TypeError('Request with GET/HEAD method cannot have body.');
        bodies.get(this).fill(init.body, headers);
      } else if (from) bodies.get(this).copy(bodies.get(from));
    }
    get url() { return this.#state.url; }
    get method() { return this.#state.method; }
    get headers() { return this.#state.headers; }
    get signal() { return this.#state.signal; }
    get mode() { return this.#state.mode; }
    get credentials() { return this.#state.credentials; }
    get cache() { return this.#state.cache; }
    get redirect() { return this.#state.redirect; }
    get referrer() { return this.#state.referrer; }
    get integrity() { return this.#state.integrity; }
    get keepalive() { return this.#state.keepalive; }
    get body() { return null; }
    clone() { return new Request(this); }
  }
  readable(Request);
  tag(Headers);
  // For fetch: what a request carries, and the response that a connector's answer stands for.
  const sent = (request) => bodies.get(request).now();
  const received = ({ status, statusText, url, headers, body }) => {
    const response = new Response([204, 205, 304].includes(status) ? null : body, { status, statusText, headers });
    return from(response, url);
  };
  return { Headers, Request, Response, sent, received };
});
