// The stand-in for OAuth providers and services, with which users authorize tools at `toolbooth dev`.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { definitions } from "../packages/toolbooth/src/catalogue.js";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { serviceOf, standIn } from "../packages/toolbooth/src/provider.js";
import { Browser, PUBLIC } from "./support/authorizing.mjs";
import { root } from "./support/commands.mjs";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");
/** The response to these bytes. */
async function raw(port, text) {
  const socket = connect(port, "127.0.0.1");
  socket.end(text);
  return (await socket.setEncoding("utf8").toArray()).join("");
}

test("the stand-in provider gives tokens to those who prove that they asked", async () => {
  const provider = await standIn(["github", "my-corp"], "http://localhost:8787");
  try {
    const { OAUTH_PROVIDERS, OAUTH_MY_CORP_TOKEN_URL: url, OAUTH_GITHUB_AUTHORIZE_URL: page } = provider.vars;
    assert.equal(OAUTH_PROVIDERS, "github,my-corp");
    const verifier = "a verifier";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const redirect = "http://localhost:8787/auth/callback/github";
    const query = new URLSearchParams({ redirect_uri: redirect, state: "s&<", scope: '"<repo>', code_challenge: challenge });
    const html = await (await fetch(`${page}?${query}`)).text();
    assert.ok(html.includes("&quot;&lt;repo&gt;") && !html.includes("<repo>"));
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link.replaceAll("&amp;", "&")));
    const [allow, deny] = links.map(({ searchParams }) => Object.fromEntries(searchParams));
    assert.deepEqual(deny, { error: "access_denied", state: "s&<" });
    assert.equal(allow.state, "s&<");
    const tokens = async (form) => {
      const response = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
      const { access_token, refresh_token } = await response.json();
      return [response.status, access_token, refresh_token];
    };
    const code = { grant_type: "authorization_code", code: allow.code };
    const [status, token, renewal] = await tokens({ ...code, code_verifier: verifier });
    assert.equal(status, 200);
    assert.equal((await tokens({ ...code, code_verifier: verifier }))[0], 400, "a code works once");
    assert.equal((await tokens({ grant_type: "refresh_token", refresh_token: renewal }))[0], 200);
    assert.equal((await tokens({ grant_type: "refresh_token", refresh_token: "another" }))[0], 400);
    for (const elsewhere of ["https://evil.example/auth/callback/github", "http://localhost:8787.evil.example/auth/callback/", "http://localhost:8787/", ""]) {
      assert.equal((await fetch(`${page}?${new URLSearchParams({ redirect_uri: elsewhere })}`)).status, 400, elsewhere);
    }
    for (const line of ["TRACE / HTTP/1.1", "GET //[ HTTP/1.1", "OPTIONS * HTTP/1.1"]) {
      assert.match(await raw(new URL(url).port, `${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`), /^HTTP\/1\.1 4\d\d /, line);
    }
    // The service accepts these tokens, and no others.
    const call = async (path, { method = "GET", body, sent = token } = {}) => {
      const response = await fetch(`${provider.services.GITHUB_API_URL}${path}`, { method, body, headers: { authorization: `Bearer ${sent}` } });
      return [response.status, await response.json()];
    };
    const issues = "/repos/octocat/hello-world/issues";
    const found = { number: 1347, title: "Found a bug", state: "open", html_url: "https://github.com/octocat/hello-world/issues/1347" };
    assert.equal((await call(issues, { sent: "another" }))[0], 401);
    assert.deepEqual(await call(`${issues}?state=open`), [200, [found]]);
    const [created, issue] = await call(issues, { method: "POST", body: '{"title":"Mend it"}' });
    assert.deepEqual([created, issue.number, issue.title], [201, 1348, "Mend it"]);
    assert.deepEqual(await call(issues), [200, [issue, found]]);
    assert.deepEqual(await call(`${issues}?state=closed`), [200, []]);
    assert.equal((await call("/repos/octocat/nowhere/issues"))[0], 404);
  } finally {
    provider.close();
  }
});

test("every tool of the shipped toolkits that uses an account ends in a value", async () => {
  const all = definitions(join(root, "tests/toolkits")).filter(({ requirements }) => requirements?.authorization);
  const ids = [...new Set(all.flatMap(({ requirements }) => requirements.authorization.map(({ id }) => id)))];
  const provider = await standIn(ids, PUBLIC, await serviceOf("1", all));
  const key = `${CANARY}-key`;
  const vars = { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(key, "Ada", ["*"])]), STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, UNVERIFIED_USERS: "allow" };
  const worker = await start("target/toolkits", { vars: { ...provider.vars, ...provider.services, ...vars } });
  const context = { user_id: `${CANARY}-user` };
  const call = (tool_id, input) => worker.post({ tool_id, input, context }, { headers: { "oxp-api-key": key } });
  try {
    const browser = new Browser(worker);
    const failed = [];
    for (const { id, examples } of all) {
      const { input } = examples.find((example) => "value" in example);
      let reply = await call(id, input);
      const [asked] = reply.json.missing_requirements?.authorization ?? [];
      if (asked) {
        const consent = await browser.visit("GET", asked.url);
        const [, action] = /<form method="post" action="([^"]+)">/.exec(consent.text);
        const { headers } = await browser.visit("POST", `${PUBLIC}${action}`);
        const [, allow] = /href="([^"]+)">Allow/.exec(await (await fetch(headers.location)).text());
        await browser.visit("GET", allow.replaceAll("&amp;", "&"));
        reply = await call(id, input);
      }
      if (reply.json.success !== true) failed.push(`${id}: ${reply.text}`);
    }
    assert.deepEqual(failed, []);
    assert.ok(all.length > 70);
    // Other values than those of an example get a value too, and a repository that does not exist gets none.
    const file = (repo) => call("GitHub.GetFile", { owner: "ada", repo, path: "README.md" });
    assert.deepEqual([(await file("engine")).json.value, (await file("nowhere")).json.success], ["# Title\n", false]);
    // Tools that share an address are told apart by what they send.
    const { json } = await call("Linear.AddComment", { issue: "ENG-9", text: "Done" });
    assert.deepEqual(json.value, { id: "c1", url: "https://linear.app/x" });
  } finally {
    await worker.close();
    provider.close();
  }
});

test("the author of a project answers in place of the service", async () => {
  const file = join(scratch, "shop.mjs");
  const [example] = /^```js\n\/\/ shop\.mjs.*?^```$/ms.exec(read(root, "docs/PROJECT.md"));
  writeFileSync(file, example.split("\n").slice(1, -1).join("\n"));
  const provider = await standIn(["shop"], "http://localhost:8787", await serviceOf(file));
  try {
    const verifier = "a verifier";
    const query = new URLSearchParams({ redirect_uri: "http://localhost:8787/auth/callback/shop", code_challenge: createHash("sha256").update(verifier).digest("base64url") });
    const [, code] = /[?&]code=([\w-]+)/.exec(await (await fetch(`${provider.vars.OAUTH_SHOP_AUTHORIZE_URL}?${query}`)).text());
    const body = new URLSearchParams({ grant_type: "authorization_code", code, code_verifier: verifier });
    const { access_token } = await (await fetch(provider.vars.OAUTH_SHOP_TOKEN_URL, { method: "POST", body })).json();
    const call = (headers) => fetch(`${provider.services.SHOP_URL}/orders/7`, { headers });
    assert.equal((await call({})).status, 401);
    assert.deepEqual(await (await call({ authorization: `Bearer ${access_token}` })).json(), { path: "/orders/7", status: "shipped" });
  } finally {
    provider.close();
  }
  writeFileSync(join(scratch, "empty.mjs"), "");
  for (const [given, message] of [["true", /DEV_PROVIDER must be 1 or the path of a module/], [join(scratch, "empty.mjs"), /must export a list/]]) {
    await assert.rejects(serviceOf(given), message);
  }
});

test("a user authorizes a tool at the stand-in provider", async () => {
  const provider = await standIn(["mail"], PUBLIC);
  const key = `${CANARY}-key`;
  const vars = { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(key, "Ada", ["*"])]), STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, UNVERIFIED_USERS: "allow" };
  const worker = await start(FIXTURES, { vars: { ...provider.vars, ...vars } });
  try {
    const context = { user_id: `${CANARY}-user`, secrets: [{ id: "KEY", value: `${CANARY}-secret` }] };
    const call = () => worker.post({ tool_id: "Fixture.Private", input: {}, context }, { headers: { "oxp-api-key": key } });
    const first = await call();
    assert.equal(first.json.message, "Authorization required", first.text);
    const [asked] = first.json.missing_requirements.authorization;
    const browser = new Browser(worker);
    const consent = await browser.visit("GET", asked.url);
    const [, action] = /<form method="post" action="([^"]+)">/.exec(consent.text);
    const { headers } = await browser.visit("POST", `${PUBLIC}${action}`);
    const [, allow] = /href="([^"]+)">Allow/.exec(await (await fetch(headers.location)).text());
    assert.equal((await browser.visit("GET", allow.replaceAll("&amp;", "&"))).status, 200);
    const { status, json } = await call();
    assert.equal(status, 200, JSON.stringify(json));
    assert.match(json.value.token, /^[0-9a-f-]{36}$/);
  } finally {
    await worker.close();
    provider.close();
  }
});
