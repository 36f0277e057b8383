// Drives a server with MCP's TypeScript client, second major: client2.mjs PACKAGES MODE TRANSPORT (URL | COMMAND ARGS…).
// MODE is auto or legacy. Prints one JSON document: what each step gave.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const [modules, mode, how, target, ...args] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + '/x.js'));
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/client' + name)));
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await load('');
const { StdioClientTransport } = await load('/stdio');

const asked = [], progress = [];
let decide = () => ({ action: 'cancel' });
const connect = async () => {
  const client = new Client({ name: 'typescript', version: '2' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    return decide(params);
  });
  await client.connect(how === 'stdio' ? new StdioClientTransport({ command: target, args, env: process.env })
    : how === 'sse' ? new SSEClientTransport(new URL(target)) : new StreamableHTTPClientTransport(new URL(target)));
  return client;
};
let client = await connect();
const call = async (args, options = {}) => {
  const answer = await client.callTool({ name: 'codemode', arguments: args },
    { onprogress: (p) => progress.push(p.message), ...options });
  return JSON.parse(answer.content[0].text);
};
const accept = (content) => ({ action: 'accept', content });
const create = (title) => `await tracker.create_issue({title: '${title}'})`;
const steps = {};

steps.list = (await client.listTools()).tools.map((t) => t.name);
steps.run = (await call({ code: 'return 1 + 1' })).result;
decide = () => accept({ decision: 'approve' });
steps.approve = (await call({ code: `return (${create('one')}).title` })).result;
decide = ({ requestedSchema: { properties } }) => ({
  first: accept({ decision: 'approve' }), second: accept({ decision: 'reject', note: 'no need' }),
  third: accept({ decision: 'approve', 'args.title': 'edited' }),
})[properties['args.title'].default];
steps.mixed = (await call({ code: `const all = await Promise.allSettled(['first', 'second', 'third']
  .map((title) => tracker.create_issue({title}))); return all.map((r) => r.value?.title ?? r.reason.message)` })).result;
decide = () => accept({ decision: 'reject', note: 'never' });
steps.reject = (await call({ code: `return ${create('rejected')}` })).error;
decide = () => ({ action: 'cancel' });
const paused = await call({ code: `return (${create('later')}).title` });
await client.close();
client = await connect();
decide = () => accept({ decision: 'approve' });
steps.reconnect = (await call({ executionId: paused.executionId })).result;
progress.length = 0;
const stop = new AbortController();
const cancelled = call({ code: 'await codemode.sleep(60000); return 1' }, { signal: stop.signal, timeout: 90000 });
cancelled.catch(() => {});
while (!progress.length) await new Promise((r) => setTimeout(r, 20));
steps.progress = progress[0];
stop.abort('enough');
await cancelled.catch(() => {});
steps.asked = asked.length;
console.log(JSON.stringify(steps));
await new Promise((r) => setTimeout(r, 500)); // what says that it cancels is on its way
await client.close();
