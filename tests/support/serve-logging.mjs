// Serves the deployed Worker, for clients in other languages. Prints its URL, and for each line of standard input
// the events that it has logged so far, as a JSON array. Stops when the input ends.
//   node tests/support/serve-logging.mjs
import { createInterface } from "node:readline";
import { SAMPLES, start } from "./worker.mjs";

const worker = await start(SAMPLES);
console.log(worker.address);
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await worker.events()));
}
await worker.close();
process.exit(0);
