// The same call as each protocol writes it, and where its answer has the sum.
import assert from "node:assert/strict";

import { Connection, get, post } from "./load.mjs";
import { add } from "./mcp.mjs";

const id = "123e4567-e89b-12d3-a456-426614174000";
const tool_id = "Calculator.Add@1.0.0";
const name = "Calculator_Add";

const row = (title, path, body, sum) => ({ title, path, request: post(path, JSON.stringify(body)), sum });

/** The call of this input in each protocol, `{ title, path, request, sum }`: `sum` takes the sum out of an answer. */
export function dialects(input) {
  const rpc = { jsonrpc: "2.0", method: name, params: input };
  const text = JSON.stringify(input);
  return [
    row("OXP, flat", "/oxp/tools/call", { call_id: id, tool_id, input }, ({ value }) => value),
    row("OXP, envelope", "/oxp/1.0/tools/call", { request: { call_id: id, tool_id, input } }, ({ result }) => result.value),
    row("OTC", "/otc/tools/call", { request: { call_id: id, tool_id, input } }, ({ result }) => result.value),
    row("OpenTool", "/opentool/call", { ...rpc, id }, ({ result }) => result.result),
    row("JSON-RPC", "/jsonrpc", { ...rpc, id: 1 }, ({ result }) => result),
    row("Xaibo", "/xaibo/execute", { tool_name: name, parameters: input }, ({ result }) => result),
    row(
      "OpenAI Chat Completions",
      "/providers/openai/call",
      { tool_calls: [{ id: "call_1", type: "function", function: { name, arguments: text } }] },
      ({ messages }) => Number(messages[0].content),
    ),
    row(
      "OpenAI Responses",
      "/providers/openai-responses/call",
      [{ type: "function_call", call_id: "call_1", name, arguments: text }],
      (answer) => Number(answer.input[0].output),
    ),
    row(
      "Anthropic Messages",
      "/providers/anthropic/call",
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name, input }] },
      ({ messages }) => Number(messages[0].content[0].content),
    ),
    row(
      "Gemini generateContent",
      "/providers/gemini/call",
      { role: "model", parts: [{ functionCall: { name, args: input } }] },
      ({ contents }) => contents[0].parts[0].functionResponse.response.output,
    ),
    {
      title: "MCP 2026-07-28",
      path: "/mcp",
      request: add(input),
      sum: ({ result }) => result.structuredContent.result,
    },
  ];
}

/** The same call, 10 + 5, which everything is measured with. */
export const DIALECTS = dialects({ a: 10, b: 5 });

/** Throws when the Worker at `port` does not know the sum in every protocol, or mounts one more. */
export async function verifyDialects(port) {
  const connection = await Connection.open(port);
  try {
    for (const { title, request, sum } of DIALECTS) {
      const { status, body } = await connection.send(request);
      assert.deepEqual([status, status === 200 && sum(JSON.parse(body))], [200, 15], `${title}: ${body}`);
    }
    const { body } = await connection.send(get("/"));
    const calls = /\/call$|\/execute$|^\/jsonrpc$|^\/mcp$/;
    const served = JSON.parse(body)
      .protocols.filter(({ name }) => name !== "root")
      .filter(({ endpoints }) => endpoints.some(({ method, path }) => method === "POST" && calls.test(path)));
    assert.equal(served.length, DIALECTS.length, "a row for each protocol that takes calls");
  } finally {
    connection.close();
  }
}
