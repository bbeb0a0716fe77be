// The calls that are taken apart.
import { createHash, createHmac } from "node:crypto";

import { definition } from "../order.mjs";

const id = "123e4567-e89b-12d3-a456-426614174000";
const name = "Calculator_Add";
const input = { a: 10, b: 5 };
const call = (input) => ({ call_id: id, tool_id: "Calculator.Add@1.0.0", input });

const KEY = "an API key of forty-three characters, or so";
const hash = createHash("sha256").update(KEY).digest("hex");
const SECRET = "a secret of at least thirty-two bytes";
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
// A token that is good for as long as anybody measures: the same at each run.
const CLAIMS = { iss: "https://issuer.example", aud: "toolbooth", sub: "user-1", scope: "add read", exp: 4102444800 };
const message = `${part({ typ: "JWT", alg: "HS256" })}.${part(CLAIMS)}`;
const token = `${message}.${createHmac("sha256", SECRET).update(message).digest("base64url")}`;

const [{ input: ORDER }] = definition.examples;

const NONE = { AUTH: "none", ANONYMOUS_SCOPES: "*" };
const BY_KEY = { AUTH: "api-key", API_KEYS: JSON.stringify([{ name: "one", scopes: [], hash }]) };
const BY_TOKEN = { AUTH: "jwt", JWT_SECRET: SECRET, JWT_ISSUER: CLAIMS.iss, JWT_AUDIENCE: CLAIMS.aud };
const bearer = (credential) => [["authorization", `Bearer ${credential}`]];

const MCP = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name,
    arguments: input,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};
const MCP_HEADERS = [
  ["accept", "application/json, text/event-stream"],
  ["mcp-protocol-version", "2026-07-28"],
  ["mcp-method", "tools/call"],
  ["mcp-name", name],
];
const GEMINI = { role: "model", parts: [{ functionCall: { name, args: input } }] };
const row = (title, path, body, { bundle = "deployed", status = 200, env = NONE, headers = [] } = {}) => ({
  title,
  bundle,
  status,
  env,
  request: { path, headers, body: JSON.stringify(body) },
});

/** `{ title, bundle, status, env, request }`: a call, whose tool it is (`deployed`, or the `order`'s), the
 *  answer's status, and the Worker's variables. */
export const CALLS = [
  row("OXP", "/oxp/tools/call", call(input)),
  row("API key", "/oxp/tools/call", call(input), { env: BY_KEY, headers: bearer(KEY) }),
  row("HS256", "/oxp/tools/call", call(input), { env: BY_TOKEN, headers: bearer(token) }),
  row("MCP", "/mcp", MCP, { headers: MCP_HEADERS }),
  row("Gemini", "/providers/gemini/call", GEMINI),
  row("invalid", "/oxp/tools/call", call({ a: 10, b: "5" }), { status: 422 }),
  row("2 KB order", "/oxp/tools/call", { call_id: id, tool_id: "Order.Price@1.0.0", input: ORDER }, { bundle: "order" }),
];
