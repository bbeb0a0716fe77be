// Serves a Worker for clients in other languages: prints its address, and stops when its standard
// input ends, which it does also when whoever started it is gone.
//   node tests/support/serve.mjs [bundle]
import { BOOTH, start } from "./worker.mjs";

const worker = await start(process.argv[2] ?? BOOTH);
console.log(worker.address);
process.stdin.resume().on("end", async () => {
  await worker.close();
  process.exit(0);
});
