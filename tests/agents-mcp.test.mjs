// Claude Code connects to the server by MCP, with the lines of docs/CLIENTS.md: its newest version, which speaks the modern era, and one of the
// legacy era. Adding and listing servers needs no account and no model. The use of the programs is subject to Anthropic's terms. Codex and
// Claude Code also connect to a server with tools for everyone and tools that ask for a sign-in.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { command, QUIET } from "./support/agents/claude-code.mjs";
import { codex } from "./support/agents/codex.mjs";
import { program } from "./support/agents/program.mjs";
import { root } from "./support/commands.mjs";
import { listen } from "./support/server.mjs";
import { CANARY, FIXTURES, SAMPLES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-of-claude-code`;

let worker, line;
before(async () => {
  worker = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEY, "claude-code", ["*"])]) } });
  const page = await readFile(join(root, "docs/CLIENTS.md"), "utf8");
  [line] = /^claude mcp add .*TOOLBOOTH_KEY.*$/m.exec(page);
});
after(() => worker?.close());

/** Adds the server with the line for a key, and says what the program, by default the newest, then knows about it. */
function added(key, file) {
  const script = `${line.replace("https://tools.example.com", worker.address)} && claude mcp list`;
  return program("sh", ["-c", script], { env: { TOOLBOOTH_KEY: key, ...QUIET }, files: command(file) });
}

for (const [version, file] of [
  ["2.1.332"],
  ["1.0.128", "claude-code-1/cli.js"],
]) {
  test(`Claude Code ${version} adds the server and connects to it`, { timeout: 300_000 }, async () => {
    const { code, output, errors } = await added(KEY, file);
    assert.equal(code, 0, errors);
    assert.match(output, /^toolbooth: http:\S+\/mcp \(HTTP\) - [✓✔] Connected$/m);
  });
}

test("Claude Code does not connect with another key", { timeout: 300_000 }, async () => {
  const { output } = await added(`${KEY}-of-another`);
  assert.match(output, /^toolbooth: /m);
  assert.doesNotMatch(output, /Connected$/m);
});

/** Runs `use` with the address of a server with open and protected tools, and the requests that reached it: their headers, body and answer. */
async function recorded(use) {
  const vars = {
    AUTH: "none, sign-in, api-key",
    API_KEYS: JSON.stringify([entryOf(KEY, "ada", ["*"])]),
    ANONYMOUS_SCOPES: undefined,
    PUBLIC_URL: "http://127.0.0.1:8787",
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
    MCP_PER_TOOL_AUTHORIZATION: "true",
  };
  const server = await start(FIXTURES, { vars });
  const requests = [];
  const proxy = await listen(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const { host: _, "content-length": __, connection: ___, ...headers } = request.headers;
    const answer = await fetch(new URL(request.url, server.address), { method: request.method, headers, ...(body && { body }) });
    const text = await answer.text();
    requests.push({ headers, body: body && JSON.parse(body), status: answer.status, text });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" }).end(text);
  });
  try {
    await use(proxy.base, requests, server);
  } finally {
    await Promise.all([proxy.close(), server.close()]);
  }
}

/** What a client gets whose requests have these headers, when it calls a protected tool. */
async function refused(server, { "user-agent": agent }) {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Fixture_Scoped", arguments: {} } };
  const { status, json } = await server.post(body, { path: "/mcp", headers: { "user-agent": agent } });
  return [status, json.result?._meta["mcp/www_authenticate"]?.length];
}

/** The request of a list that the client has sent without credentials. */
function listing(requests) {
  const list = requests.find(({ body }) => body?.method === "tools/list");
  assert.ok(list, JSON.stringify(requests.map(({ body, status }) => [body?.method, status])));
  assert.deepEqual([list.status, list.headers.authorization], [200, undefined]);
  assert.match(list.text, /Fixture_Scoped.*"securitySchemes":\[\{"type":"oauth2"/);
  return list;
}

test("Codex 0.169.0 connects without a sign-in, and its protected calls get a result that asks for one", { timeout: 300_000 }, async () => {
  await recorded(async (base, requests, server) => {
    // There is no model: servers of tools are asked before.
    const config = `model_provider = "none"\n[model_providers.none]\nname = "none"\nwire_api = "responses"\nbase_url = "${base}/nowhere"\nrequest_max_retries = 0\nstream_max_retries = 0\n[mcp_servers.toolbooth]\nurl = "${base}/mcp"\n`;
    await codex({ config, env: {}, prompt: "hi" });
    assert.equal(requests[0].body.params.clientInfo.name, "codex-mcp-client");
    assert.deepEqual(await refused(server, listing(requests).headers), [200, 1]);
  });
});

test("Claude Code 2.1.332 connects without a sign-in, and its protected calls get 401", { timeout: 300_000 }, async () => {
  await recorded(async (base, requests, server) => {
    const script = `claude mcp add --transport http toolbooth ${base}/mcp && claude mcp list`;
    const { output } = await program("sh", ["-c", script], { env: QUIET, files: command() });
    assert.match(output, /^toolbooth: http:\S+\/mcp \(HTTP\) - [✓✔] Connected$/m);
    assert.ok(requests.length > 0 && requests.every(({ headers }) => headers.authorization === undefined));
    assert.deepEqual(await refused(server, requests[0].headers), [401, undefined]);
  });
});
