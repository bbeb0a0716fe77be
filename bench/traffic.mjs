// What many clients send at once: every protocol, and every tenth request a bad one. Each request
// knows its own answer; the operands differ, so that nobody can be given another's.
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
const fails = (expected, told) => ({ status, body }) => status === expected && told(JSON.parse(body));
const says = (words) => ({ message }) => message.includes(words);

const bad = [
  {
    title: "no JSON",
    request: post("/oxp/tools/call", '{"tool_id": "Calculator.Add"'),
    answered: fails(400, says("malformed")),
  },
  {
    title: "no JSON, JSON-RPC",
    request: post("/jsonrpc", "{"),
    answered: fails(400, ({ error }) => error.code === -32700),
  },
  {
    title: "wrong input",
    request: post("/oxp/tools/call", call("Calculator.Add", { a: "1", b: 2 })),
    answered: fails(422, ({ parameter_errors }) => Object.keys(parameter_errors).join() === "a"),
  },
  {
    title: "wrong input, OTC",
    request: post("/otc/tools/call", JSON.stringify({ request: { tool_id: "Calculator.Add", input: {} } })),
    answered: fails(422, ({ parameter_errors }) => Object.keys(parameter_errors).join() === "a,b"),
  },
  {
    title: "wrong input, MCP",
    request: add({ a: 1 }),
    answered: fails(200, ({ result }) => result.isError === true),
  },
  {
    title: "wrong input, Anthropic",
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
    answered: fails(400, says("was not found")),
  },
  {
    title: "unknown version",
    request: post("/tools/call", "{}", { "content-type": "application/json", "oxp-version": "2.0" }),
    answered: fails(400, says("version")),
  },
  {
    title: "wrong content type",
    request: post("/oxp/tools/call", "{}", { "content-type": "text/plain" }),
    answered: fails(415, says("not JSON")),
  },
  {
    title: "wrong method",
    request: get("/oxp/tools/call"),
    answered: fails(405, says("method")),
  },
  {
    title: "no such address",
    request: post("/oxp/tools/calls", "{}"),
    answered: fails(404, says("nothing at this address")),
  },
];

const PERIOD = 10;
/** All of them, in the order in which they are sent. */
export const TRAFFIC = Array.from({ length: (good.length * PERIOD) / (PERIOD - 1) }, (_, at) => {
  const nth = Math.floor(at / PERIOD);
  return at % PERIOD === PERIOD - 1 ? bad[nth % bad.length] : good[at - nth];
});

/** How many kinds there are, and which part of all requests is bad. */
export const KINDS = { good: good.length / OPERANDS.length, bad: bad.length, part: 1 / PERIOD };

/** Sends the traffic over the connections while `goes(sent)` says so, from where the last one of the
 *  same `place` ended. Milliseconds of each answer, and seconds in all; throws at the first answer that is not
 *  `right(entry, answer)`. */
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
        if (!right(entry, answer)) throw new Error(`${entry.title}: answered ${answer.status} ${answer.body}`);
      }
    }),
  );
  return { latencies, seconds: (performance.now() - started) / 1000 };
}
