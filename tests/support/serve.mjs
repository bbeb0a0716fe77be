// Serves a Worker for clients in other languages: prints its URL, and stops when its standard input
// ends, which also happens if the parent process dies.
//   node tests/support/serve.mjs [bundle] [variables as JSON]
import { SAMPLES, start } from "./worker.mjs";

const [, , bundle = SAMPLES, vars = "{}"] = process.argv;
const worker = await start(bundle, { vars: JSON.parse(vars) });
console.log(worker.address);
process.stdin.resume().on("end", async () => {
  await worker.close();
  process.exit(0);
});
