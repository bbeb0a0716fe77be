// Real MCP clients with the Worker: connect, list, call and read in each era, and a user who authorizes
// a tool. docs/PROTOCOLS.md lists the clauses.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as v2 from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UrlElicitationRequiredError as ElicitationV1 } from "@modelcontextprotocol/sdk/types.js";
import { token } from "../packages/toolbooth/src/credentials.js";
import { Browser, PUBLIC, authorizing } from "./support/authorizing.mjs";
import { run } from "./support/commands.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const SECRET = `${CANARY} of at least thirty-two bytes`;

let services, worker, asking, home;
before(async () => {
  // Inspector may write files there.
  home = mkdtempSync(join(tmpdir(), "inspector-"));
  services = await authorizing();
  const vars = { ...services.vars, AUTH: "jwt", JWT_SECRET: SECRET };
  [worker, asking] = await Promise.all([start(SAMPLES), start(SAMPLES, { vars })]);
});
after(async () => {
  rmSync(home, { recursive: true });
  await Promise.all([worker.close(), asking.close(), services.close()]);
});

const packages = {
  client: {
    make: (info, options) => new v2.Client(info, options),
    Transport: v2.StreamableHTTPClientTransport,
    Elicitation: v2.UrlElicitationRequiredError,
  },
  sdk: { make: (info, options) => new ClientV1(info, options), Transport: TransportV1, Elicitation: ElicitationV1 },
};

/** Each client in each of its modes, with the revision that it speaks. */
const MODES = [
  { name: "client pinned to 2026-07-28", kind: "client", version: "2026-07-28", versionNegotiation: { mode: { pin: "2026-07-28" } } },
  { name: "client that finds out", kind: "client", version: "2026-07-28", versionNegotiation: { mode: "auto" } },
  { name: "client of before", kind: "client", version: "2025-11-25", versionNegotiation: { mode: "legacy" } },
  { name: "sdk 1.x", kind: "sdk", version: "2025-11-25" },
];
const LEGACY = MODES.filter(({ version }) => version === "2025-11-25");
const [PINNED, AUTO] = MODES;

/** Runs `use` with a connected client. */
async function connected({ to = worker, kind, versionNegotiation, capabilities = {}, path = "/mcp", headers, handlers = {} }, use) {
  const { make, Transport } = packages[kind];
  const client = make({ name: "test", version: "1" }, { capabilities, versionNegotiation });
  for (const [method, handler] of Object.entries(handlers)) client.setRequestHandler(method, handler);
  const transport = new Transport(new URL(path, to.address), { requestInit: { headers } });
  await client.connect(transport);
  try {
    return await use(client, transport);
  } finally {
    await client.close();
  }
}

for (const mode of MODES) {
  test(`MC1 MC20 MC22 ${mode.name} lists and calls tools`, async () => {
    await connected(mode, async (client, transport) => {
      assert.equal(transport.protocolVersion ?? client.getNegotiatedProtocolVersion(), mode.version);
      assert.equal(client.getServerVersion().name, "toolbooth-app");
      const { tools } = await client.listTools();
      const add = tools.find(({ name }) => name === "Calculator_Add");
      assert.equal(add._meta["toolbooth/id"], "Calculator.Add@1.0.0");
      const called = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b: 40 } });
      assert.deepEqual(called.structuredContent, { result: 42 });
      assert.deepEqual(called.content, [{ type: "text", text: '{"result":42}' }]);
      const wrong = await client.callTool({ name: "Calculator_Add", arguments: { a: "x" } });
      assert.equal(wrong.isError, true);
      assert.match(wrong.content[0].text, /^The arguments are invalid\. .*b: Is required/);
      const failed = await client.callTool({ name: "Doorbell_Ring", arguments: { doorbell_id: "doorbell1" } });
      assert.equal(failed.isError, true);
      assert.equal(failed.content[0].text, "Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms.");
      await assert.rejects(client.callTool({ name: "Nowhere_Go", arguments: {} }), { code: -32602 });
    });
  });

  test(`MC65 MC67 ${mode.name} searches tools and calls what it finds`, async () => {
    await connected({ ...mode, path: "/mcp?tools=search" }, async (client) => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ["search_tools", "call_tool"]);
      const found = await client.callTool({ name: "search_tools", arguments: { query: "add two numbers", limit: 1 } });
      const [{ name, inputSchema }] = found.structuredContent.tools;
      assert.deepEqual([name, inputSchema.required], ["Calculator_Add", ["a", "b"]]);
      const short = await client.callTool({ name: "search_tools", arguments: { query: "add two numbers", format: "text" } });
      assert.match(short.content[0].text, /^Calculator_Add\(a: number, b: number\)\n/);
      const called = await client.callTool({ name: "call_tool", arguments: { name, arguments: { a: 2, b: 40 } } });
      assert.deepEqual(called.structuredContent, { result: 42 });
      const wrong = await client.callTool({ name: "call_tool", arguments: { name, arguments: { a: "x" } } });
      assert.match(wrong.content[0].text, /^The arguments are invalid\. .*b: Is required/);
      assert.deepEqual((await client.callTool({ name, arguments: { a: 1, b: 1 } })).structuredContent, { result: 2 });
    });
  });

  test(`MC30 MC33 ${mode.name} reads resources, prompts and completions`, async () => {
    await connected(mode, async (client) => {
      const { resources } = await client.listResources();
      const { uri } = resources.find(({ name }) => name === "Text.Slugify@1.0.0");
      const { contents } = await client.readResource({ uri });
      assert.match(contents[0].text, /^# Make a slug\n[^]*Deprecated: Drops every letter beyond ASCII/);
      assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
      assert.ok(Array.isArray((await client.listPrompts()).prompts));
      const ref = { type: "ref/resource", uri: "toolbooth://tools/{id}" };
      const { completion } = await client.complete({ ref, argument: { name: "id", value: "text." } });
      assert.deepEqual(completion.values, ["Text.Slugify@1.0.0", "Text.Slugify@1.1.0", "Text.Slugify@2.0.0"]);
    });
  });
}

// A user authorizes GitHub

const CALL = {
  name: "GitHub_CreateIssue",
  arguments: { owner: "octocat", repository: "hello-world", title: "Found a bug" },
};
const URLS = { elicitation: { url: {} } };

// Each test has its own user, because grants persist.
let users = 0;
const user = () => {
  const claims = { sub: `${CANARY}-user-${(users += 1)}`, scope: "github:write", exp: Math.floor(Date.now() / 1000) + 600 };
  return { authorization: `Bearer ${token(claims, SECRET)}` };
};

/** The user opens the link and agrees. */
async function grant(url) {
  assert.ok(url.startsWith(`${PUBLIC}/auth/start?c=`), url);
  assert.equal((await new Browser(asking).grant({ url })).status, 200);
}

const made = ({ isError, structuredContent }) => assert.deepEqual([isError, structuredContent?.number], [undefined, 1347]);

for (const mode of [PINNED, AUTO]) {
  test(`MC40 ${mode.name} that supports URL elicitation asks its user, and one call is enough`, async () => {
    const asked = [];
    const handlers = {
      "elicitation/create": async ({ params }) => {
        asked.push(params);
        // Consent to open the link is not a grant: at first the user only consents.
        if (asked.length === 2) await grant(params.url);
        return { action: "accept" };
      },
    };
    await connected({ ...mode, to: asking, headers: user(), capabilities: URLS, handlers }, async (client) => {
      made(await client.callTool(CALL));
      assert.deepEqual(asked.map(({ mode, message }) => [mode, message]), [
        ["url", "Authorization is required to access GitHub"],
        ["url", "Authorization is required to access GitHub"],
      ]);
      made(await client.callTool(CALL));
      assert.equal(asked.length, 2, "a grant persists");
    });
  });
}

test("MC67 a user is asked to authorize the tool that call_tool names", async () => {
  const asked = [];
  const handlers = {
    "elicitation/create": async ({ params }) => {
      asked.push(params.message);
      await grant(params.url);
      return { action: "accept" };
    },
  };
  await connected({ ...PINNED, to: asking, headers: user(), capabilities: URLS, handlers }, async (client) => {
    made(await client.callTool({ name: "call_tool", arguments: CALL }));
    assert.deepEqual(asked, ["Authorization is required to access GitHub"]);
  });
  const scopeless = { authorization: `Bearer ${token({ sub: "x", exp: Math.floor(Date.now() / 1000) + 600 }, SECRET)}` };
  await connected({ ...PINNED, to: asking, headers: scopeless }, async (client) => {
    await assert.rejects(client.callTool({ name: "call_tool", arguments: CALL }), { code: -32602 });
    const { structuredContent } = await client.callTool({ name: "search_tools", arguments: { query: "create an issue", limit: 20 } });
    assert.ok(!structuredContent.tools.some(({ name }) => name.startsWith("GitHub_")));
  });
});

test("MC40 a user who declines ends the call", async () => {
  const asked = [];
  const handlers = {
    "elicitation/create": async ({ params }) => {
      asked.push(params);
      return { action: asked.length < 3 ? "accept" : "decline" };
    },
  };
  await connected({ ...PINNED, to: asking, headers: user(), capabilities: URLS, handlers }, async (client) => {
    const result = await client.callTool(CALL);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /did not agree to authorize access to github/);
    assert.equal(asked.length, 3, "consent is not a grant: the user is asked again until there is one");
  });
});

for (const mode of LEGACY) {
  test(`MC41 ${mode.name} that supports URL elicitation gets an error, and calls again`, async () => {
    const options = { ...mode, to: asking, path: "/mcp?elicitation=url", headers: user(), capabilities: URLS };
    await connected(options, async (client) => {
      const error = await client.callTool(CALL).then(assert.fail, (error) => error);
      assert.ok(error instanceof packages[mode.kind].Elicitation, String(error));
      const [{ url, message }] = error.elicitations;
      assert.equal(message, "Authorization is required to access GitHub");
      await grant(url);
      made(await client.callTool(CALL));
    });
  });
}

for (const mode of MODES) {
  test(`MC42 ${mode.name} without URL elicitation gets the link as text, and calls again`, async () => {
    await connected({ ...mode, to: asking, headers: user() }, async (client) => {
      await client.listTools();
      const { isError, content, structuredContent, _meta } = await client.callTool(CALL);
      assert.deepEqual([isError, structuredContent], [true, undefined]);
      await grant(link(content, _meta));
      made(await client.callTool(CALL));
    });
  });
}

/** The link in the only text, which `_meta` has too. */
function link([words, ...more], meta) {
  const [, url] = /^Authorization is required to access GitHub\. Ask the user to open this link, then call the tool again: (http\S+)$/.exec(words.text);
  assert.deepEqual([more, meta["toolbooth/authorization"].map((one) => one.url)], [[], [url]]);
  return url;
}

// Inspector's command line

const inspect = async (to, method, { headers = {}, options = "" }) => {
  const more = Object.entries(headers).map((pair) => `--header '${pair.join(": ")}'`);
  const inspector = "node_modules/.bin/mcp-inspector --cli";
  const target = `${to.address}/mcp --transport http --method ${method}`;
  const done = await run(`${inspector} ${target} ${options} ${more.join(" ")}`, { env: { HOME: home } });
  return { ...done, json: () => JSON.parse(done.out) };
};

for (const era of ["legacy", "modern"]) {
  test(`MC20 MC22 Inspector, ${era}: every schema is accepted, and a tool is called`, async () => {
    const listed = await inspect(worker, "tools/list", { options: `--strict --protocol-era ${era}` });
    assert.equal(listed.code, 0, listed.err);
    assert.ok(listed.json().tools.some(({ name }) => name === "Calculator_Add"));
    const called = await inspect(worker, "tools/call", { options: `--tool-name Calculator_Add --tool-arg a=2 b=40 --protocol-era ${era}` });
    assert.equal(called.code, 0, called.err);
    assert.deepEqual(called.json().structuredContent, { result: 42 });
  });

  test(`MC42 Inspector, ${era}: a user authorizes a tool`, async () => {
    const args = Object.entries(CALL.arguments).map(([name, value]) => `'${name}=${value}'`);
    const options = `--tool-name ${CALL.name} --tool-arg ${args.join(" ")} --protocol-era ${era}`;
    const headers = user();
    const asked = await inspect(asking, "tools/call", { headers, options });
    assert.deepEqual([asked.code, asked.json().isError], [5, true], asked.err);
    const { content, _meta } = asked.json();
    await grant(link(content, _meta));
    made((await inspect(asking, "tools/call", { headers, options })).json());
  });
}
