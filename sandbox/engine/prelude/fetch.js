// fetch over the connector "outbound": each request is one of its calls, logged and replayed like any other.
(function (global, kit) {
  'use strict';
  const { Request, received, sent } = kit.load('http');
  const { TextDecoder } = kit.load('text');
  const connector = global.outbound;
  const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

  // Text stays readable for whoever approves the request.
  function readable(bytes) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return bytes;
    }
  }
  function call(request, body) {
    const args = { url: request.url }, headers = request.headers.toJSON();
    if (Object.keys(headers).length > 0) args.headers = headers;
    if (body !== null) args.body = readable(body);
    return connector[request.method.toLowerCase()](args);
  }
  function fetch(input, init) {
    return new Promise((resolve, reject) => {
      const request = new Request(input, init), { signal } = request;
      if (signal.aborted) throw signal.reason;
      if (!methods.has(request.method)) throw new TypeError(`fetch cannot send ${request.method} requests`);
      signal.addEventListener('abort', () => reject(signal.reason));
      // The call is issued at once, unless its body is a Blob, which only gives its bytes later.
      const body = sent(request);
      const answer = body?.then ? body.then((bytes) => call(request, bytes)) : call(request, body);
      Promise.resolve(answer).then((a) => resolve(received(a))).catch(reject);
    });
  }
  return { fetch };
});
