// What a program of the synchronous mode has beside its namespaces: the catalogue, as UTCP's bridge offers it to models.
// Its answers are looked up, so that a replay sees the same.
(function (kit) {
  'use strict';
  const { host, plain } = kit;
  const { create, defineProperty } = Object;
  const NativeString = String, NativeNumber = Number, namesOf = Array.from;
  const ask = (method, args) => host.issue('codemode', method, args, true, true);
  const named = (input, key) => NativeString(input?.[key]);
  plain('__getToolInterface', (name) => ask('utcp.interface', { target: NativeString(name) }));
  defineProperty(globalThis, '__interfaces', { get: () => ask('utcp.interfaces', create(null)), configurable: true });
  plain('list_tools', () => ask('utcp.list', create(null)));
  plain('search_tools', (input) => {
    const args = { query: named(input, 'task_description') };
    if (input?.limit !== undefined) args.most = NativeNumber(input.limit);
    return ask('utcp.search', args);
  });
  plain('tools_info', (input) => ask('utcp.info', { names: namesOf(input?.tool_names ?? [], NativeString) }).text);
  plain('get_required_keys_for_tool', (input) => ask('utcp.keys', { target: named(input, 'tool_name') }));
});
