// A client that has nothing of ours but the codec: it starts a program, approves it with arguments of its own, and reads
// results of every size.
const assert = require('node:assert');
const { Client, Connection } = require('@temporalio/client');
const { CodemodeCodec } = require('./index.js');

const [address, runtime, keys, large] = process.argv.slice(2);
const taskQueue = `codemode-${runtime}`;
const Δ = 'Δ'.repeat(Number(large));

async function main() {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, dataConverter: { payloadCodecs: [new CodemodeCodec({ keys })] } });
  const outcome = (workflowId, part = 0) => client.workflow.execute('codemode.Outcome', {
    args: [{ workflowId, part }], taskQueue, workflowId: `${workflowId}/outcome/${Math.random()}`,
  });

  const handle = await client.workflow.start('codemode.Execution', {
    args: [{ code: `const name = await lab.ask({name: 'Δ'.repeat(${large})}); return name + name.slice(0, 1)` }],
    taskQueue, workflowId: `codemode/${runtime}/typescript`,
  });
  const { status } = await handle.executeUpdate('wait', { args: [{ after: 0 }] });
  assert.equal(status, 'paused');
  assert.equal((await handle.query('pending'))[0].omitted, true);
  const paused = await outcome(handle.workflowId);
  assert.equal(paused.pending[0].args.name, Δ);

  const { seq, argsDigest } = paused.pending[0];
  const edited = 'Ω' + Δ.slice(1);
  const verdict = await handle.executeUpdate('approve', { args: [{ seqs: [seq], argsDigest, args: { name: edited } }] });
  assert.equal(verdict.accepted, true, JSON.stringify(verdict));
  const result = await handle.result();
  assert.equal(result.status, 'completed', result.error);
  assert.equal(result.result ?? 'omitted', result.omitted ? 'omitted' : edited + 'Ω');
  const whole = await outcome(handle.workflowId);
  assert.equal(whole.result, edited + 'Ω');
  assert.equal(whole.parts, whole.calls.length === 1 ? 1 : 2);

  const code = `const letter = () => String.fromCharCode(0x4e00 + Math.random() * 0x5000);
    const some = Array.from({length: 20_000}, letter).join(''); console.log(some); return some.repeat(49)`;
  const random = `codemode/${runtime}/random`; // nothing that zlib could make small enough
  await client.workflow.execute('codemode.Execution', { args: [{ code }], taskQueue, workflowId: random });
  const { result: text, parts } = await outcome(random);
  assert.equal(parts, 2);
  const { logs } = await outcome(random, 1);
  assert.equal(text.length, 980_000);
  assert.ok(logs[0].startsWith(text.slice(0, 1000)));
  console.log('well');
  await connection.close();
}

main().catch((error) => { console.error(error); process.exit(1); });
