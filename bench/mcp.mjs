// MCP: a call and the list, compared with the JavaScript packages for Workers, all with the same tools. The
// packages declare the tools as documented, in the function that creates the server for each request; one
// variant moves as much as possible out of that function, and McpAgent creates the server once for each session.
import assert from "node:assert/strict";

import { Connection, post } from "./load.mjs";
import { Session, request as inSession } from "./session.mjs";
import { calculator, definition } from "./tools.mjs";
import { bundled } from "./workers.mjs";
import { zod } from "./zod.mjs";

const VERSION = "2026-07-28";
const ADD = "Calculator_Add";

/** What the bundle of McpAgent lacks: wrangler resolves the first, and only Cloudflare's workerd has the second. */
const ABSENT = { path: 'export { extname } from "node:path";', "cloudflare:email": "export class EmailMessage {}" };

/** The revision of ours and of most others. */
export const STATELESS = revision(Connection.open, request);
/** The last one with sessions. */
const SESSIONS = revision(Session.open, inSession);

/** The servers to compare with: `entry` is their Worker in bench/workers, and `sdk` has their `McpServer`. */
const PACKAGES = [
  { name: "mcp-sdk", title: "@modelcontextprotocol/server", entry: "mcp-sdk", documented: true },
  { name: "mcp-agents", title: "agents", entry: "mcp-agents", documented: true },
  {
    name: "mcp-agent",
    title: "agents, McpAgent",
    entry: "mcp-agent",
    documented: true,
    sdk: "@modelcontextprotocol/sdk/server/mcp.js",
    supply: ABSENT,
    objects: { MCP_OBJECT: "ToolAgent" },
    revision: SESSIONS,
  },
  { name: "mcp-once", title: "@modelcontextprotocol/server, schemas made once", entry: "mcp-sdk", documented: false },
];

/** Their Workers with `count` tools: `{ name, title, documented, count, modules, objects, revision }`;
 *  `documented` means that they are used as documented. */
export async function servers(count) {
  const worker = async ({ name, entry, sdk = "@modelcontextprotocol/server", supply, ...server }) => ({
    revision: STATELESS,
    ...server,
    name: `${name}-${count}`,
    count,
    modules: [await bundled(entry, { factory: await source(count, server.documented, sdk), ...supply })],
  });
  return Promise.all(PACKAGES.map(worker));
}

async function source(count, documented, sdk) {
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
  return `import { McpServer } from "${sdk}";
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

/** What the servers of a revision get: `connect` opens a connection to a port, and `requests` are measured. */
function revision(connect, request) {
  const call = (name, input) => request("tools/call", { name, arguments: input });
  const add = (input) => call(ADD, input);
  // Ours would list a search instead of many tools.
  const list = request("tools/list", {}, "/mcp?tools=all");
  return { connect, add, unknown: call("Nobody_Knows", {}), requests: { call: add({ a: 10, b: 5 }), list } };
}

/** A call of Calculator.Add, and the measured requests, to ours. */
export const { add, requests: REQUESTS } = STATELESS;

/** The list as clients get it who ask for nothing else. */
export const SHORT_LIST = request("tools/list");

/** Throws if a Worker violates MCP, or if two Workers with the same number of tools list them differently.
 *  `count` is undefined for the deployed tools. */
export async function verifyMcp(workers, ports) {
  const lists = new Map();
  for (const { name, count, revision } of workers) {
    const list = await verifyServer(`${name}, MCP`, ports[name], revision);
    if (count === undefined) continue;
    assert.equal(list.length, count, name);
    assert.deepEqual(list, lists.get(count) ?? list, name);
    lists.set(count, list);
  }
}

/** Checks a server and returns its list in comparable form. */
async function verifyServer(title, port, revision) {
  const { connect, add, unknown, requests } = revision;
  const connection = await connect(port);
  const ask = async (message) => {
    const { status, body } = await connection.send(message);
    assert.equal(status, 200, `${title}: ${body}`);
    // With sessions, the response is the only event of a stream.
    return JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body);
  };
  try {
    const { result } = await ask(requests.call);
    if (revision === STATELESS) assert.equal(result.resultType, "complete", title);
    assert.deepEqual(result.structuredContent, { result: 15 }, title);
    assert.deepEqual(JSON.parse(result.content[0].text), { result: 15 }, title);
    for (const input of [{ a: "10", b: 5 }, { a: 10 }, { a: 1, b: 2, c: 3 }]) {
      assert.equal((await ask(add(input))).result.isError, true, `${title}: ${JSON.stringify(input)}`);
    }
    const { error, result: failed } = await ask(unknown);
    // McpAgent's SDK answers a call of an unknown tool with a failed one.
    if (revision === STATELESS) assert.equal(error.code, -32602, title);
    else assert.equal(failed.isError, true, title);
    const { tools } = (await ask(requests.list)).result;
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
