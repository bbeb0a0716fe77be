// Serves the chat gateway with stand-ins of the providers, for clients in other languages. Prints its URL; each line of the
// standard input is a command, answered by a line of JSON:
//   {"provider": "openai", "script": [...]}   sets what the model says
//   {"provider": "openai"}                    returns the bodies that arrived, and the rejections
import { createInterface } from "node:readline";
import { startGateway, STATE_KEY } from "./gateway/worker.mjs";

const { address, upstream, close } = await startGateway({ vars: { STATE_KEY } });
console.log(address);
for await (const line of createInterface({ input: process.stdin })) {
  const { provider, script } = JSON.parse(line);
  const { journal, rejections } = upstream[provider];
  const answer = script === undefined ? { bodies: journal.map(({ body }) => body), rejections } : {};
  if (script !== undefined) upstream[provider].script(...script);
  console.log(JSON.stringify(answer));
}
await close();
process.exit(0);
