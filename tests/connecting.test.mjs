// Runs the snippets of docs/CLIENTS.md and README.md: a client configured by each of them reaches the tools. The calls in
// docs/PROTOCOLS.md and docs/REST.md have the response that the page shows.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { root } from "./support/commands.mjs";
import { issued, issuer, keyPair } from "./support/issuer.mjs";
import { model } from "./support/models.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-a-client`;
const DEVELOPMENT_KEY = "development-key";
const SITES = { "https://tools.example.com": KEY, "http://localhost:8787": DEVELOPMENT_KEY };

const pageOf = (file) => readFileSync(join(root, file), "utf8");
const blocksOf = (page) => [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));

const page = pageOf("docs/CLIENTS.md");
const blocks = blocksOf(page);
const quickStart = blocksOf(pageOf("README.md")).filter(({ text }) => text.startsWith("claude "));

let worker, signing;
before(async () => {
  const entry = (name, key) => ({ name, scopes: ["*"], hash: createHash("sha256").update(key).digest("hex") });
  const API_KEYS = JSON.stringify([entry("client", KEY), entry("development", DEVELOPMENT_KEY)]);
  worker = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS } });
  const [PUBLIC_URL] = Object.keys(SITES);
  const vars = { AUTH: "sign-in, api-key", API_KEYS, PUBLIC_URL, STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` };
  signing = await start(SAMPLES, { vars });
});
after(() => Promise.all([worker.close(), signing.close()]));

/** Parsers of snippets by language: `{ transport, url, headers }` of each server. */
const readers = {
  json(text) {
    const { mcpServers, servers = mcpServers, inputs = [] } = JSON.parse(text);
    const asked = [...text.matchAll(/\$\{input:([\w-]+)\}/g)].map(([, id]) => id);
    assert.deepEqual(asked, inputs.map(({ id }) => id), "every input is used");
    return Object.values(servers).map(({ type = "http", ...server }) => ({ transport: type, ...server }));
  },
  sh(text) {
    const words = [...text.trim().matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
    const url = words.find((word) => /^https?:/.test(word));
    const transport = words[words.indexOf("--transport") + 1];
    if (!words.includes("--header")) return [{ transport, url }];
    const [name, value] = words[words.indexOf("--header") + 1].split(": ");
    return [{ transport, url, headers: { [name]: value } }];
  },
  // Other blocks of TOML are variables of the server.
  toml(text) {
    if (!isOfCodex({ text })) return [];
    const value = (name) => new RegExp(`^${name} = "(.*)"$`, "m").exec(text)[1];
    return [{ transport: "http", url: value("url"), headers: { Authorization: `Bearer \${${value("bearer_token_env_var")}}` } }];
  },
  yaml(text) {
    const value = (name) => {
      const [, quoted, bare] = new RegExp(`\\b${name}: (?:"([^"]*)"|(\\S+))`).exec(text);
      return quoted ?? bare;
    };
    return [{ transport: value("transport"), url: value("url"), headers: { Authorization: value("Authorization") } }];
  },
};

/** Fills in placeholders like the client does. */
const filled = (text) => text.replace(/\$\{((env|input):)?toolbooth[_-]key\}/i, KEY);

function isOfCodex({ text }) {
  return text.startsWith("[mcp_servers.");
}
const isCurl = ({ text }) => text.startsWith("curl ");
const snippets = [...blocks, ...quickStart]
  .filter((block) => block.language in readers && !isCurl(block))
  .flatMap(({ language, text }) => readers[language](text).map((server) => ({ language, text, ...server })));

for (const [at, { language, transport, url }] of snippets.filter(({ headers }) => !headers).entries()) {
  test(`snippet ${at + 1} with nothing but the address (${language}, ${transport}) leads to the page where people sign in`, async () => {
    const { origin, pathname } = new URL(url);
    const refused = await signing.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { path: pathname });
    assert.equal(refused.status, 401);
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(refused.headers["www-authenticate"]);
    const resource = await signing.get(new URL(metadata).pathname);
    assert.deepEqual([resource.json.resource, resource.json.authorization_servers], [url, [origin]]);
    const server = await signing.get("/.well-known/oauth-authorization-server");
    assert.deepEqual([server.json.issuer, server.json.authorization_endpoint], [origin, `${origin}/oauth/authorize`]);
  });
}

for (const [at, { language, transport, url, headers }] of snippets.filter(({ headers }) => headers).entries()) {
  test(`snippet ${at + 1} (${language}, ${transport}) connects a client to the tools`, async () => {
    const { origin, pathname, search } = new URL(url);
    assert.ok(origin in SITES, url);
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)]));
    assert.deepEqual(sent, { Authorization: `Bearer ${SITES[origin]}` });
    const address = new URL(pathname + search, worker.address);
    if (transport === "sse") return plainJson(address, sent);
    for (const mode of ["auto", "legacy"]) {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers: sent } }));
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === "Calculator_Add"));
      const { structuredContent } = await client.callTool({ name: "Calculator_Add", arguments: { a: 10, b: 5 } });
      assert.deepEqual(structuredContent, { result: 15 });
      await client.close();
    }
    const stranger = new Client({ name: "test", version: "1" });
    await assert.rejects(stranger.connect(new StreamableHTTPClientTransport(address)));
  });
}

// How Xaibo uses its transport of that name.
async function plainJson({ pathname }, headers) {
  const ask = (method, params) =>
    worker.post({ jsonrpc: "2.0", id: "1", method, params }, { path: pathname, headers: { accept: "*/*", ...headers } });
  const clientInfo = { name: "xaibo-mcp-client", version: "1.0.0" };
  const { json } = await ask("initialize", { protocolVersion: "2024-11-05", capabilities: { tools: {} }, clientInfo });
  assert.equal(json.result.protocolVersion, "2024-11-05");
  const { tools } = (await ask("tools/list")).json.result;
  assert.ok(tools.some(({ name }) => name === "Calculator_Add"));
  const called = await ask("tools/call", { name: "Calculator_Add", arguments: { a: 10, b: 5 } });
  assert.equal(called.json.result.content[0].text, '{"result":15}');
}

test("every client of the table has its section, and all kinds of snippets are parsed", () => {
  assert.equal(quickStart.length, 1);
  const [table] = /^\| Client .*(?:\n\|.*)+/m.exec(page);
  const clients = [...table.matchAll(/^\| ([^|]+?) +\| .* \|$/gm)].map(([, name]) => name).filter((name) => name !== "Client");
  for (const client of clients) {
    assert.ok([...page.matchAll(/^## (.*)$/gm)].some(([, title]) => title.startsWith(client.split(",")[0])), client);
  }
  assert.equal(clients.length, 8);
  assert.deepEqual([...new Set(snippets.map(({ language }) => language))].sort(), Object.keys(readers).sort());
});

test("with the variables of the page, a client learns where to get a token, and can call with it", async () => {
  const { text } = blocks.find((block) => block.language === "toml" && !isOfCodex(block));
  const vars = Object.fromEntries([...text.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, value]) => [name, value]));
  const pair = keyPair("ES256");
  const keys = await issuer(pair);
  const booth = await start(SAMPLES, { vars: { ...vars, JWKS_URL: keys.url } });
  try {
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const refused = await booth.post(list, { path: "/mcp" });
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(refused.headers["www-authenticate"]);
    const { origin, pathname } = new URL(metadata);
    assert.deepEqual([refused.status, origin], [401, vars.PUBLIC_URL]);
    const { json } = await booth.get(pathname);
    assert.equal(json.resource, "https://tools.example.com/mcp", "the URL of the snippets");
    assert.deepEqual(json.authorization_servers, [vars.JWT_ISSUER]);
    const token = issued(pair, { iss: vars.JWT_ISSUER, aud: json.resource });
    const taken = await booth.post(list, { path: "/mcp", headers: { authorization: `Bearer ${token}` } });
    assert.equal(taken.status, 200, taken.text);
  } finally {
    await Promise.all([booth.close(), keys.close()]);
  }
});

for (const { text } of blocks.filter(isCurl)) {
  test("the snippet with curl calls a tool", async () => {
    const shown = text.replaceAll("https://tools.example.com", worker.address);
    const { stdout } = await promisify(execFile)("sh", ["-c", shown], { env: { ...process.env, TOOLBOOTH_KEY: KEY } });
    assert.equal(JSON.parse(stdout).value, 15);
  });
}

for (const [file, count] of [["docs/PROTOCOLS.md", 10], ["docs/REST.md", 1]]) {
  test(`the calls in ${file} have the response that follows them`, async () => {
    const all = blocksOf(pageOf(file));
    const calls = all.map((call, at) => ({ ...call, shown: all[at + 1] })).filter(isCurl);
    assert.equal(calls.length, count);
    for (const { text, shown } of calls) {
      const { stdout } = await promisify(execFile)("sh", ["-c", text.replaceAll("http://localhost:8787", worker.address)]);
      const got = JSON.parse(stdout);
      if (shown?.language === "json") assert.deepEqual(withoutDuration(got), withoutDuration(JSON.parse(shown.text)), text);
      else assert.equal(got[0].function.name, "Calculator_Add", text);
    }
  });
}

/** A response without the time that the call took. */
function withoutDuration(response) {
  return JSON.parse(JSON.stringify(response, (name, value) => (name === "duration" ? undefined : value)));
}

// The programs, each with the stand-in of its provider. The Python SDKs of OpenAI and Anthropic are not installed.
const PROGRAMS = [
  { language: "ts", provider: "openai", variables: (base) => ({ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: "k" }) },
  { language: "ts", provider: "anthropic", variables: (base) => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: "k" }) },
  { language: "ts", provider: "gemini", variables: (base) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: "k" }) },
  { language: "python", provider: "gemini", variables: (base) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: "k" }) },
];

for (const { language, provider, variables } of PROGRAMS) {
  test(`the program for ${provider} in ${language} answers with the result of a tool`, async () => {
    const found = blocks.filter((block) => block.language === language && block.text.includes(`/providers/${provider}"`));
    assert.equal(found.length, 1);
    const server = await model(provider, [[{ name: "Calculator_Add", input: { a: 17, b: 25 } }]]);
    // Inside the project, where the packages are.
    mkdirSync(join(root, "target"), { recursive: true });
    const folder = mkdtempSync(join(root, "target/program-"));
    const file = join(folder, language === "ts" ? "program.mts" : "program.py");
    try {
      // The stand-in has a model of its own.
      writeFileSync(file, found[0].text.replaceAll("https://tools.example.com", worker.address).replace("gemini-3-pro", "m"));
      const program = language === "ts" ? process.execPath : join(root, ".venv/bin/python");
      const { stdout } = await promisify(execFile)(program, [file], { env: { ...process.env, ...variables(server.base), TOOLBOOTH_KEY: KEY, NO_PROXY: "*" } });
      assert.match(stdout, /42/);
    } finally {
      rmSync(folder, { recursive: true });
      await server.close();
      assert.deepEqual(server.rejections, []);
    }
  });
}
