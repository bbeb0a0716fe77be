// Serves a Worker whose users authorize tools, for clients in other languages. Callers have tokens
// signed with the secret. Prints the URL of the Worker. Each line of standard input is the link of a
// challenge: a user opens it and agrees, and the status of the last page is printed. Stops when the
// input ends.
//   node tests/support/serve-authorizing.mjs secret
import { createInterface } from "node:readline";
import { Browser, authorizing } from "./authorizing.mjs";
import { SAMPLES, start } from "./worker.mjs";

const services = await authorizing();
const worker = await start(SAMPLES, { vars: { ...services.vars, AUTH: "jwt", JWT_ISSUER: "https://issuer.example", JWT_SECRET: process.argv[2] } });
console.log(worker.address);
for await (const url of createInterface({ input: process.stdin })) {
  console.log((await new Browser(worker).grant({ url })).status);
}
await worker.close();
await services.close();
process.exit(0);
