// Serves a Worker to which people sign in, for clients in other languages. Prints its URL. Each line of standard input is
// the address of a consent page: a person agrees with an API key, and the address of the callback is printed. Stops when
// the input ends.
//   node tests/support/serve-sign-in.mjs
import { createInterface } from "node:readline";
import { entryOf } from "../../packages/toolbooth/src/credentials.js";
import { Person, freePort } from "./sign-in.mjs";
import { BOOTH, CANARY, start } from "./worker.mjs";

const KEY = `${CANARY}-key-of-ada`;
const port = await freePort();
const vars = {
  AUTH: "sign-in, api-key",
  API_KEYS: JSON.stringify([entryOf(KEY, "Ada", ["*"])]),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
};
const worker = await start(BOOTH, { port, vars });
console.log(vars.PUBLIC_URL);
for await (const url of createInterface({ input: process.stdin })) {
  console.log((await new Person().agree(url, KEY)).href);
}
await worker.close();
process.exit(0);
