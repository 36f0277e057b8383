(host, offered, program) => {
  let whole;
  const load = async () => (whole ??= await host.spec({}));
  const pointer = (root, ref) => ref.slice(1).split('/').slice(1).reduce(
    (at, step) => at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], root);
  // Each use of a reference is a copy of its own, made when it is first looked at.
  const resolve = (root, value, path) => {
    if (value === null || typeof value !== 'object') return value;
    if (typeof value.$ref === 'string') {
      const ref = value.$ref;
      if (!ref.startsWith('#')) return { ...value };
      if (path.includes(ref)) return { $circular: ref };
      return resolve(root, pointer(root, ref), [...path, ref]);
    }
    const copy = Array.isArray(value) ? [] : {};
    for (const key of Object.keys(value)) {
      let done = false, result;
      Object.defineProperty(copy, key, {
        enumerable: true, configurable: true,
        get: () => (done ? result : ((done = true), (result = resolve(root, value[key], path)))),
        set: (v) => { done = true; result = v; },
      });
    }
    return copy;
  };
  const facade = { spec: async () => { const root = await load(); return resolve(root, root, []); } };
  if (offered.includes('request')) {
    facade.request = ({ method = 'GET', path, query, body, headers, contentType } = {}) => {
      const args = { method, path };
      if (query !== undefined) args.params = query;
      if (body !== undefined) args.body = body;
      if (headers !== undefined || contentType !== undefined) args.headers = { ...headers };
      if (contentType !== undefined) args.headers['Content-Type'] = contentType;
      return host.request(args);
    };
  }
  return program(Object.freeze(facade))();
}
