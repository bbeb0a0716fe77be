// A model provider that answers at once, for measurements: every request of a kind gets the same bytes. Prints its port. GET /last says how
// many bytes the last request had.
//   node bench/gateway/upstream.mjs
import http from "node:http";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { standIns } from "../../tests/support/providers/stand-in.mjs";
import { CALLED, MARK } from "./sessions.mjs";

const words = (count) => Array.from({ length: count }, (_, at) => `word${at} `);
const input = { path: "src/parser.ts", limit: 400, mode: "each", edits: Array.from({ length: 8 }, (_, at) => ({ from: `before ${at}`, to: `after ${at}` })) };
/** What a model says to each kind of request: the deltas of a short stream, of a long one, and those of an agent, with a call. */
const SAYS = { unary: { text: words(1) }, short: { text: words(20) }, long: { text: words(1000) }, agent: { text: words(60), calls: [{ name: CALLED, input }] } };
const TOOL = { type: "function", function: { name: CALLED, description: "Runs.", parameters: { type: "object", properties: {} } } };

/** What the stand-ins answer to a request, as bytes. */
async function recorded() {
  const providers = await standIns();
  const ways = [
    ["openai", FRONTS.chat, { authorization: `Bearer ${providers.openai.key}` }],
    ["openai", FRONTS.responses, { authorization: `Bearer ${providers.openai.key}` }],
    ["anthropic", FRONTS.messages, { "x-api-key": providers.anthropic.key }],
  ];
  const answers = {};
  for (const [provider, front, headers] of ways) {
    for (const [kind, says] of Object.entries(SAYS)) {
      providers[provider].script(says);
      const body = front.request({ messages: [{ role: "user", content: "?" }], max_tokens: 100, tools: [TOOL], ...(kind !== "unary" && { stream: true }) });
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers, ...front.headers }, body: JSON.stringify({ ...body, model: MODELS[provider] }) };
      const reply = await fetch(`${providers[provider].base}${front.path}`, init);
      if (reply.status !== 200) throw new Error(`${front.path}: ${await reply.text()}`);
      answers[`${front.path} ${kind}`] = Buffer.from(await reply.arrayBuffer());
    }
  }
  await providers.close();
  return answers;
}

/** One event per write, as a provider sends them. */
const events = (answer) => answer.toString().split(/(?<=\n\n)/).map((event) => Buffer.from(event));
const answers = await recorded();
const streams = Object.fromEntries(Object.entries(answers).filter(([name]) => !name.endsWith(" unary")).map(([name, answer]) => [name, events(answer)]));

/** Of which kind a request is. */
function kindOf(body) {
  if (!body.includes('"stream":true') && !body.includes('"stream": true')) return "unary";
  if (body.includes(MARK)) return "agent";
  return body.includes("A long answer.") ? "long" : "short";
}

let last = 0;
const server = http.createServer((request, response) => {
  if (request.url === "/last") return response.end(`${last}`);
  const parts = [];
  request.on("data", (part) => parts.push(part)).on("end", () => {
    const body = Buffer.concat(parts);
    last = body.length;
    const kind = kindOf(body);
    const name = `${request.url.split("?")[0]} ${kind}`;
    const answer = answers[name];
    if (answer === undefined) return response.writeHead(404).end(name);
    if (kind === "unary") return response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of streams[name]) response.write(event);
    response.end();
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
