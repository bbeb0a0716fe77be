// MCP, revision 2026-07-28: a call and the list, compared with the JavaScript packages for Workers, all
// with the same tools. The packages declare the tools as documented, in the function that creates the
// server for each request; one variant moves as much as possible out of that function.
import assert from "node:assert/strict";

import { Connection, post } from "./load.mjs";
import { calculator, definition } from "./tools.mjs";
import { bundled } from "./workers.mjs";
import { zod } from "./zod.mjs";

const VERSION = "2026-07-28";
const ADD = "Calculator_Add";

/** The servers to compare with: `entry` is their Worker in bench/workers. */
const PACKAGES = [
  { name: "mcp-sdk", title: "@modelcontextprotocol/server", entry: "mcp-sdk", documented: true },
  { name: "mcp-agents", title: "agents", entry: "mcp-agents", documented: true },
  { name: "mcp-once", title: "@modelcontextprotocol/server, schemas made once", entry: "mcp-sdk", documented: false },
];

/** Their Workers with `count` tools: `{ name, title, documented, count, modules }`; `documented` means that
 *  they are used as documented. */
export async function servers(count) {
  const worker = async ({ name, title, entry, documented }) => ({
    name: `${name}-${count}`,
    title,
    documented,
    count,
    modules: [await bundled(entry, { factory: await source(count, documented) })],
  });
  return Promise.all(PACKAGES.map(worker));
}

async function source(count, documented) {
  const generated = Array.from({ length: count - 1 }, (_, number) => definition(number));
  const tools = [
    { ...(await calculator()), run: "({ a, b }) => a + b" },
    ...generated.map((one, number) => ({ ...one, run: `(input) => Object.keys(input).length + ${number}` })),
  ];
  const schemas = ({ input_schema, output_schema }) =>
    `inputSchema: ${zod(input_schema)}, outputSchema: z.strictObject({ result: ${zod(output_schema)} })`;
  const once = documented ? [] : tools.map((tool) => `  { ${schemas(tool)} },`);
  const calls = tools.map(
    (tool, at) => `
  server.registerTool(
    ${JSON.stringify(tool.name)},
    {
      title: ${JSON.stringify(tool.title)},
      description: ${JSON.stringify(tool.description)},
      ${documented ? schemas(tool) : `...SCHEMAS[${at}]`},
    },
    async (input) => answer((${tool.run})(input)),
  );`,
  );
  return `import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const SCHEMAS = [
${once.join("\n")}
];

const answer = (result) => ({
  content: [{ type: "text", text: JSON.stringify({ result }) }],
  structuredContent: { result },
});

export function createServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
${calls.join("\n")}
  return server;
}
`;
}

function request(method, { name, ...more } = {}, path = "/mcp") {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    ...(name && { "mcp-name": name }),
  };
  return post(path, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { name, ...more, _meta } }), headers);
}

/** A call of Calculator.Add. */
export const add = (input) => request("tools/call", { name: ADD, arguments: input });

/** The measured requests. Ours would list a search instead of many tools. */
export const REQUESTS = { call: add({ a: 10, b: 5 }), list: request("tools/list", {}, "/mcp?tools=all") };

/** The list as clients get it who ask for nothing else. */
export const SHORT_LIST = request("tools/list");

/** Throws if a Worker violates MCP, or if two Workers with the same number of tools list them differently.
 *  `count` is undefined for the deployed tools. */
export async function verifyMcp(workers, ports) {
  const lists = new Map();
  for (const { name, count } of workers) {
    const list = await verifyServer(`${name}, MCP`, ports[name]);
    if (count === undefined) continue;
    assert.equal(list.length, count, name);
    assert.deepEqual(list, lists.get(count) ?? list, name);
    lists.set(count, list);
  }
}

/** Checks a server and returns its list in comparable form. */
async function verifyServer(title, port) {
  const connection = await Connection.open(port);
  const ask = async (message) => {
    const { status, body } = await connection.send(message);
    assert.equal(status, 200, `${title}: ${body}`);
    return JSON.parse(body);
  };
  try {
    const { result } = await ask(REQUESTS.call);
    assert.equal(result.resultType, "complete", title);
    assert.deepEqual(result.structuredContent, { result: 15 }, title);
    assert.deepEqual(JSON.parse(result.content[0].text), { result: 15 }, title);
    for (const input of [{ a: "10", b: 5 }, { a: 10 }, { a: 1, b: 2, c: 3 }]) {
      assert.equal((await ask(add(input))).result.isError, true, `${title}: ${JSON.stringify(input)}`);
    }
    const unknown = await ask(request("tools/call", { name: "Nobody_Knows", arguments: {} }));
    assert.equal(unknown.error.code, -32602, title);
    const { tools } = (await ask(REQUESTS.list)).result;
    assert.ok(tools.some(({ name }) => name === ADD), title);
    return tools.map(comparable).sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    connection.close();
  }
}

// Drops the fields that servers may express differently.
const comparable = ({ name, description, inputSchema: { type, properties = {}, required = [], additionalProperties } }) => ({
  name,
  description,
  type,
  properties: Object.fromEntries(
    Object.entries(properties).map(([property, { description }]) => [property, description]),
  ),
  required: required.toSorted(),
  additionalProperties,
});
