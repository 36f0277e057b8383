// Drives a server with MCP's official TypeScript SDK: client.mjs SDK-FOLDER (URL | COMMAND ARGS…), the program in CODE.
// Prints one JSON document: the tools, what people were asked, progress, and the answer.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const [modules, target, ...args] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + '/x.js'));
const sdk = (path) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + path)));
const { Client } = await sdk('client/index.js');
const { StdioClientTransport } = await sdk('client/stdio.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { ElicitRequestSchema } = await sdk('types.js');

const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, env: process.env });
const client = new Client({ name: 'sdk', version: '1.0.0' }, { capabilities: { elicitation: {} } });
const asked = [], progress = [];
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push(params);
  return { action: 'accept', content: { decision: 'approve', 'args.title': 'edited', note: 'fine' } };
});
await client.connect(transport);
const { tools } = await client.listTools();
const answer = await client.callTool({ name: 'codemode', arguments: { code: process.env.CODE } }, undefined, { onprogress: (p) => progress.push(p) });
console.log(JSON.stringify({ tools, asked, progress, answer }));
await client.close();
