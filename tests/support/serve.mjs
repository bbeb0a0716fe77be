// Serves the Worker for clients in other languages: prints its address, and stops when its standard
// input ends, which it does also when whoever started it is gone.
//   node tests/support/serve.mjs
import { BOOTH, start } from "./worker.mjs";

const worker = await start(BOOTH);
console.log(worker.address);
process.stdin.resume().on("end", async () => {
  await worker.close();
  process.exit(0);
});
