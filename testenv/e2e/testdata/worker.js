// A team's worker in JavaScript: node worker.js ADDRESS QUEUE
const { NativeConnection, Worker } = require('@temporalio/worker');
const { ApplicationFailure } = require('@temporalio/activity');

async function stock({ item }, key) {
  if (item === 'none') throw ApplicationFailure.create({ type: 'NoSuchItem', message: 'no such item', nonRetryable: true, details: [{ item }] });
  return { item, left: 3, key };
}

(async () => {
  const [, , address, taskQueue] = process.argv;
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ connection, taskQueue, activities: { stock, reserve: stock } });
  console.log('ready');
  await worker.run();
})();
