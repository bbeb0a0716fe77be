// Real clients of MCP against the Worker: connect, list, call, read, in each era. The clauses are
// those of docs/PROTOCOLS.md.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport, UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import { BOOTH, CANARY, start } from "./support/worker.mjs";

const CHALLENGES = {
  AUTH: "none",
  OAUTH_PROVIDERS: "github",
  PUBLIC_URL: "http://127.0.0.1:8787",
  STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
  GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
  OAUTH_GITHUB_CLIENT_ID: "booth",
};

let worker, asking;
before(async () => {
  [worker, asking] = await Promise.all([start(BOOTH), start(BOOTH, { vars: CHALLENGES })]);
});
after(() => Promise.all([worker.close(), asking.close()]));

const ERAS = [
  ["2026-07-28", { mode: { pin: "2026-07-28" } }],
  ["2026-07-28", { mode: "auto" }],
  ["2025-11-25", { mode: "legacy" }],
];

/** Runs `use` with a connected client. */
async function connected({ to = worker, versionNegotiation, capabilities = {}, path = "/mcp", handlers = {} }, use) {
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation });
  for (const [method, handler] of Object.entries(handlers)) client.setRequestHandler(method, handler);
  await client.connect(new StreamableHTTPClientTransport(new URL(path, to.address)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

for (const [version, versionNegotiation] of ERAS) {
  const name = `${JSON.stringify(versionNegotiation.mode)}`;

  test(`MC1 MC20 MC22 a client in mode ${name} lists and calls tools`, async () => {
    await connected({ versionNegotiation }, async (client) => {
      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(client.getServerVersion().name, "toolbooth");
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
      assert.equal(failed.content[0].text, "Doorbell ID not found");
      await assert.rejects(client.callTool({ name: "Nowhere_Go", arguments: {} }), { code: -32602 });
    });
  });

  test(`MC30 MC33 a client in mode ${name} reads resources, prompts and completions`, async () => {
    await connected({ versionNegotiation }, async (client) => {
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

const CALL = {
  name: "GitHub_CreateIssue",
  arguments: { owner: "octocat", repository: "hello-world", title: "Found a bug" },
  _meta: { "toolbooth/context": { user_id: `${CANARY}-user` } },
};

test("MC40 a modern client that opens addresses is asked to, and a user who declines ends it", async () => {
  const asked = [];
  const handlers = {
    "elicitation/create": async ({ params }) => {
      asked.push(params);
      return { action: asked.length < 3 ? "accept" : "decline" };
    },
  };
  const capabilities = { elicitation: { url: {} } };
  const options = { to: asking, versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities, handlers };
  await connected(options, async (client) => {
    const result = await client.callTool(CALL);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /did not agree to authorize access to github/);
    assert.equal(asked.length, 3, "consent is not a grant: it is asked again while there is none");
    for (const { mode, url, message } of asked) {
      assert.equal(mode, "url");
      assert.ok(url.startsWith(`${CHALLENGES.PUBLIC_URL}/auth/start?c=`));
      assert.equal(message, "Authorization is required to access GitHub");
    }
  });
});

test("MC41 a client of 2025-11-25 that opens addresses is told by an error", async () => {
  const options = { to: asking, versionNegotiation: { mode: "legacy" }, path: "/mcp?elicitation=url" };
  await connected({ ...options, capabilities: { elicitation: { url: {} } } }, async (client) => {
    const error = await client.callTool(CALL).then(assert.fail, (error) => error);
    assert.ok(error instanceof UrlElicitationRequiredError, String(error));
    assert.ok(error.elicitations[0].url.startsWith(`${CHALLENGES.PUBLIC_URL}/auth/start?c=`));
  });
});

for (const [version, versionNegotiation] of ERAS.slice(1)) {
  test(`MC42 a client of ${version} that opens no addresses is told in words`, async () => {
    await connected({ to: asking, versionNegotiation }, async (client) => {
      await client.listTools();
      const { isError, content, structuredContent } = await client.callTool(CALL);
      assert.deepEqual([isError, structuredContent], [true, undefined]);
      assert.match(content[0].text, /^Authorization is required to access GitHub\. Ask the user to open this link, then call the tool again: http/);
      const fields = JSON.parse(content[1].text);
      assert.equal(fields.authorization_required, true);
      assert.ok(content[0].text.endsWith(fields.authorization_url));
    });
  });
}
