// Writes the first line of the programs given, `// expect: JSON`, by running each with node and core-js:
//   TZ=UTC node expect.mjs ../testdata/programs/*.ts
import 'core-js/actual/index.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

globalThis.self ??= globalThis;
const hold = setInterval(() => {}, 100); // node's AbortSignal.timeout keeps no process alive
for (const file of process.argv.slice(2)) {
  const source = readFileSync(file, 'utf8').replace(/^\/\/ expect:.*\n/, '');
  const makeTools = new Function(readFileSync(join(dirname(file), '_tools.js'), 'utf8') + '; return makeTools');
  const stubs = makeTools()();
  const tools = new Proxy({}, {
    get: (_, name) => async (args) => {
      const given = args === undefined ? undefined : JSON.parse(JSON.stringify(args));
      const value = JSON.stringify(stubs[name](given));
      return value === undefined ? undefined : JSON.parse(value);
    },
  });
  const { code } = transformSync(`var __main=async function(tools){${source}\n}`, { loader: 'ts', target: 'node20', supported: { using: false, decorators: false } });
  const value = await new Function('"use strict";' + code + ';return __main')()(tools);
  writeFileSync(file, `// expect: ${JSON.stringify(value)}\n${source}`);
}
clearInterval(hold);
