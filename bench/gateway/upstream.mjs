// A model provider that answers at once, for measurements: every request gets the same bytes. Prints its port.
//   node bench/gateway/upstream.mjs
import http from "node:http";
import { standIns } from "../../tests/support/providers/stand-in.mjs";
import { MODELS } from "../../tests/support/gateway/cases.mjs";

/** The deltas of a short stream and of a long one. */
const SHORT = 20;
const LONG = 1000;

/** What the stand-ins answer to a request, as bytes. */
async function recorded() {
  const providers = await standIns();
  const messages = [{ role: "user", content: "?" }];
  const authorization = `Bearer ${providers.openai.key}`;
  const requests = [
    ["openai", "/v1/chat/completions", { authorization }, { model: MODELS.openai, messages }],
    ["openai", "/v1/responses", { authorization }, { model: MODELS.openai, input: "?" }],
    ["anthropic", "/v1/messages", { "x-api-key": providers.anthropic.key, "anthropic-version": "2023-06-01" }, { model: MODELS.anthropic, max_tokens: 9, messages }],
  ];
  const answers = {};
  for (const [provider, path, headers, body] of requests) {
    for (const [kind, deltas] of [["unary", 1], ["short", SHORT], ["long", LONG]]) {
      providers[provider].script({ text: Array.from({ length: deltas }, (_, at) => `word${at} `) });
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify({ ...body, ...(kind !== "unary" && { stream: true }) }) };
      const reply = await fetch(`${providers[provider].base}${path}`, init);
      answers[`${path} ${kind}`] = Buffer.from(await reply.arrayBuffer());
    }
  }
  await providers.close();
  return answers;
}

const answers = await recorded();
const server = http.createServer((request, response) => {
  let body = "";
  request.setEncoding("latin1").on("data", (part) => (body += part)).on("end", () => {
    const streamed = /"stream":\s*true/.test(body);
    const kind = streamed ? (body.includes("long") ? "long" : "short") : "unary";
    const answer = answers[`${request.url.split("?")[0]} ${kind}`];
    if (answer === undefined) return response.writeHead(404).end(`${request.url} ${kind}`);
    if (!streamed) return response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    response.writeHead(200, { "content-type": "text/event-stream" });
    // One event per write, as a provider sends them.
    for (const event of answer.toString().split(/(?<=\n\n)/)) response.write(event);
    response.end();
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
