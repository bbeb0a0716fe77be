// Serves a Worker to which people sign in, for clients in other languages. Prints its URL. Each line of standard input is
// the address of a consent page: a person agrees with an API key, and the address of the callback is printed; or
// `document`: the URL of a client's metadata document is printed. Stops when the input ends. The Worker knows the client
// `connector`, whose secret is the argument. With `per-tool`, some tools need no sign-in, and the others ask for one.
//   node tests/support/serve-sign-in.mjs secret [per-tool]
import { createInterface } from "node:readline";
import { entryOf } from "../../packages/toolbooth/src/credentials.js";
import { freePort } from "./commands.mjs";
import { Person, claudeCode, hosting, sha256 } from "./sign-in.mjs";
import { CANARY, FIXTURES, SAMPLES, start } from "./worker.mjs";

const KEY = `${CANARY}-key-of-ada`;
const DOCUMENT = "/oauth/claude-code-client-metadata";
const port = await freePort();
const documents = await hosting({ [DOCUMENT]: claudeCode });
const connector = { id: "connector", name: "Connector", redirect_uris: ["http://localhost:3118/callback"], secret_hash: sha256(process.argv[2]) };
const isPerTool = process.argv[3] === "per-tool";
const vars = {
  AUTH: isPerTool ? "none, sign-in, api-key" : "sign-in, api-key",
  ...(isPerTool && { MCP_PER_TOOL_AUTHORIZATION: "true", ANONYMOUS_SCOPES: undefined }),
  API_KEYS: JSON.stringify([entryOf(KEY, "Ada", ["*"])]),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
  SIGN_IN_CLIENTS: JSON.stringify([connector]),
};
const worker = await start(isPerTool ? FIXTURES : SAMPLES, { port, vars });
console.log(vars.PUBLIC_URL);
for await (const url of createInterface({ input: process.stdin })) {
  console.log(url === "document" ? `${documents.base}${DOCUMENT}` : (await new Person().agree(url, KEY)).href);
}
await documents.close();
await worker.close();
process.exit(0);
