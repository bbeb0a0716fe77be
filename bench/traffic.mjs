// Mixed traffic: requests in every protocol, every tenth one invalid. Each request can check its response;
// the operands differ, so that swapped responses are detected.
import { get, post } from "./load.mjs";
import { add } from "./mcp.mjs";
import { calls } from "./protocols.mjs";

const OPERANDS = Array.from({ length: 18 }, (_, at) => ({ a: 100 * at, b: at }));

const good = OPERANDS.flatMap((input) =>
  calls(input).map(({ title, request, sum }) => ({
    title,
    request,
    answered: ({ status, body }) => status === 200 && sum(JSON.parse(body)) === input.a + input.b,
  })),
);

const call = (tool_id, input) => JSON.stringify({ call_id: "bad", tool_id, input });
const fails = (expected, matches) => ({ status, body }) => status === expected && matches(JSON.parse(body));
const contains = (text) => ({ message }) => message.includes(text);

const bad = [
  {
    title: "invalid JSON",
    request: post("/oxp/tools/call", '{"tool_id": "Calculator.Add"'),
    answered: fails(400, contains("not valid JSON")),
  },
  {
    title: "invalid JSON, JSON-RPC",
    request: post("/jsonrpc", "{"),
    answered: fails(400, ({ error }) => error.code === -32700),
  },
  {
    title: "invalid input",
    request: post("/oxp/tools/call", call("Calculator.Add", { a: "1", b: 2 })),
    answered: fails(422, ({ parameter_errors }) => Object.keys(parameter_errors).join() === "a"),
  },
  {
    title: "invalid input, OTC",
    request: post("/otc/tools/call", JSON.stringify({ request: { tool_id: "Calculator.Add", input: {} } })),
    answered: fails(422, ({ parameter_errors }) => Object.keys(parameter_errors).join() === "a,b"),
  },
  {
    title: "invalid input, MCP",
    request: add({ a: 1 }),
    answered: fails(200, ({ result }) => result.isError === true),
  },
  {
    title: "invalid input, Anthropic",
    request: post(
      "/providers/anthropic/call",
      JSON.stringify({
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_2", name: "Calculator_Add", input: { a: 1, b: null } }],
      }),
    ),
    answered: fails(200, ({ messages }) => messages[0].content[0].is_error === true),
  },
  {
    title: "unknown tool",
    request: post("/oxp/tools/call", call("Calculator.Divide", { a: 1, b: 2 })),
    answered: fails(400, contains("was not found")),
  },
  {
    title: "unknown version",
    request: post("/tools/call", "{}", { "content-type": "application/json", "oxp-version": "2.0" }),
    answered: fails(400, contains("version")),
  },
  {
    title: "wrong content type",
    request: post("/oxp/tools/call", "{}", { "content-type": "text/plain" }),
    answered: fails(415, contains("must be JSON")),
  },
  {
    title: "wrong method",
    request: get("/oxp/tools/call"),
    answered: fails(405, contains("method")),
  },
  {
    title: "unknown path",
    request: post("/oxp/tools/calls", "{}"),
    answered: fails(404, contains("nothing at this address")),
  },
];

const PERIOD = 10;
/** All requests, in the order of sending. */
export const TRAFFIC = Array.from({ length: (good.length * PERIOD) / (PERIOD - 1) }, (_, at) => {
  const nth = Math.floor(at / PERIOD);
  return at % PERIOD === PERIOD - 1 ? bad[nth % bad.length] : good[at - nth];
});

/** The number of kinds of valid and invalid requests, and the fraction of invalid requests. */
export const KINDS = { good: good.length / OPERANDS.length, bad: bad.length, part: 1 / PERIOD };

/** Sends the traffic over the connections while `goes(sent)` is true, continuing where the last call with the
 *  same `place` stopped. Returns the milliseconds of each response and the total seconds; throws at the first
 *  response for which `right(entry, answer)` is false. */
export async function send(connections, place, goes, right) {
  const latencies = [];
  let count = 0;
  await Promise.all(connections.map((connection) => connection.ready()));
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (goes(count++)) {
        const entry = TRAFFIC[place.next++ % TRAFFIC.length];
        const sent = performance.now();
        const answer = await connection.send(entry.request);
        latencies.push(performance.now() - sent);
        if (!right(entry, answer)) throw new Error(`${entry.title}: returned ${answer.status} ${answer.body}`);
      }
    }),
  );
  return { latencies, seconds: (performance.now() - started) / 1000 };
}
