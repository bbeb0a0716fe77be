// Signing in on the site, in Chromium. The authorization server is a stand-in that the browser sees at the Worker's address.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { isAccessible, launch, pictures } from "./support/chromium.mjs";
import { CANARY } from "./support/leaks.mjs";
import { KEY, Visitor, startSite } from "./support/site.mjs";

/** The Worker's own authorization server is at another address than its pages, which have no use for it. */
const VARS = { AUTH: "api-key, sign-in", PUBLIC_URL: "https://tools.example", STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}` };

let site, browser;
before(async () => {
  [site, browser] = await Promise.all([startSite({ vars: VARS }), launch()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/**
 * Serves the endpoints of an authorization server at `origin`, where Ada may allow `permitted`. `answer` changes the query of the
 * response. Returns the requests.
 */
async function authorizationServer(context, origin, { answer = {}, permitted = ["github:read"], available = ["github:read", "github:write", "gateway"] } = {}) {
  const seen = { clients: [], requested: [], revoked: [] };
  const json = (route, body) => route.fulfill({ contentType: "application/json", body: JSON.stringify(body) });
  await context.route(`${origin}/.well-known/oauth-authorization-server`, (route) =>
    json(route, {
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/oauth/token`,
      registration_endpoint: `${origin}/oauth/register`,
      revocation_endpoint: `${origin}/oauth/revoke`,
      scopes_supported: ["github:read", "github:write", "gateway", "offline_access"],
      protected_resources: [`${origin}/mcp`],
    }),
  );
  await context.route(`${origin}/oauth/register`, (route) => {
    seen.registration = route.request().postDataJSON();
    seen.clients.push(`client ${seen.clients.length + 1}`);
    return json(route, { client_id: seen.clients.at(-1) });
  });
  await context.route(`${origin}/oauth/authorize?*`, (route) => {
    seen.query = Object.fromEntries(new URL(route.request().url()).searchParams);
    // A client that the server does not know gets a page, and no redirect.
    if (!seen.clients.includes(seen.query.client_id)) return route.fulfill({ status: 400, contentType: "text/html", body: "Unknown" });
    if (route.request().isNavigationRequest()) seen.requested.push(seen.query.scope);
    const query = new URLSearchParams({ code: "code", state: seen.query.state, iss: origin, ...answer });
    return route.fulfill({ status: 303, headers: { location: `${seen.query.redirect_uri}?${query}` } });
  });
  await context.route(`${origin}/oauth/token`, (route) => {
    // As a server must, which takes the header for the credentials of a client (RFC 6749, 2.3.1).
    if (route.request().headers()["authorization"]) return route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ error: "invalid_client" }) });
    seen.form = Object.fromEntries(new URLSearchParams(route.request().postData()));
    const scope = seen.query.scope.split(" ").filter((one) => permitted.includes(one)).join(" ");
    return json(route, { access_token: KEY, token_type: "Bearer", scope, name: "Ada", available_scope: available.join(" ") });
  });
  await context.route(`${origin}/oauth/revoke`, (route) => {
    seen.revoked.push(Object.fromEntries(new URLSearchParams(route.request().postData())));
    return route.fulfill({ status: 200, body: "" });
  });
  return seen;
}

/** Signs in with the button of this name, and waits until the window has closed. */
async function signIn(page, name = "Sign in") {
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name, exact: true }).first().click()]);
  if (!popup.isClosed()) await popup.waitForEvent("close");
}

/**
 * Lets a new visitor use the site, with an authorization server as `server` describes it, or without one. `use` gets the visitor,
 * its page and context, the address of the site, and what the server has `seen`.
 */
async function visiting(use, server = {}) {
  const { address } = site.worker;
  const visitor = await Visitor.arrive(browser, address);
  try {
    const { page, context } = visitor;
    const seen = server && (await authorizationServer(context, address, server));
    await use({ visitor, page, context, address, seen });
  } finally {
    await visitor.close();
  }
}

test("a visitor signs in: the code has a proof, and the token is for the tab's pages", () => visiting(async ({ visitor, page, address, seen }) => {
  await visitor.visit("/playground");
  await signIn(page);
  await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
  const redirect = `${address}/signed-in`;
  assert.deepEqual(seen.registration.redirect_uris, [redirect]);
  const { state, code_challenge, ...query } = seen.query;
  assert.match(seen.registration.client_name, /^Playground · Chrome on \w+$/);
  const fixed = { response_type: "code", client_id: "client 1", redirect_uri: redirect, code_challenge_method: "S256", resource: `${address}/mcp`, scope: "profile" };
  assert.deepEqual(query, fixed);
  assert.ok(state.length >= 43);
  const { code_verifier, ...form } = seen.form;
  assert.deepEqual(form, { grant_type: "authorization_code", code: "code", redirect_uri: redirect, client_id: "client 1", resource: `${address}/mcp` });
  assert.equal(createHash("sha256").update(code_verifier).digest("base64url"), code_challenge);
  for (const request of visitor.requests) assert.ok(!request.url().includes(CANARY), request.url());
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  const credential = JSON.stringify({ secret: KEY, person: { name: "Ada", scopes: [], available: ["github:read", "github:write", "gateway"], client: "client 1" } });
  assert.equal(stored, JSON.stringify([{ client: "client 1" }, { credential }, ""]));
  assert.deepEqual(await visitor.problems(), []);
}));

test("a person gets code that works for them: a line that sets their token, which the page shows nowhere", () => visiting(async ({ visitor, page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visitor.visit("/playground");
  await signIn(page);
  await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
  await page.getByLabel("command for Claude Code", { exact: true }).getByText(`claude mcp add --transport http toolbooth ${VARS.PUBLIC_URL}/mcp`).waitFor();
  await page.getByRole("button", { name: "Copy the line that sets it" }).click();
  await page.getByText("Copied: paste it into your shell.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `export TOOLBOOTH_KEY='${KEY}'`);
  assert.ok(!(await page.content()).includes(KEY));
  await isAccessible(page);
  await pictures(page, "own-token");
  assert.deepEqual(await visitor.problems(), []);
}));

test("a person sees their name on the pages of the tab, and signs out; the browser registers once", () => visiting(async ({ visitor, page, address, seen }) => {
  await visitor.visit("/playground");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  assert.equal(await page.getByText("development key").count(), 0);
  await signIn(page);
  await page.getByRole("link", { name: "Ada: your account" }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.locator("#tool-list").getByText("Calculator.Add@1.0.0").waitFor();
  const account = page.getByRole("link", { name: "Ada: your account" });
  await account.locator(".dot.accepted").waitFor({ state: "attached" });
  assert.equal(await account.getAttribute("href"), "/account");
  for (const width of [320, 1280]) assert.ok(await visitor.fits(width), `${width} pixels`);
  await isAccessible(page);
  await Promise.all([page.waitForResponse(`${address}/oauth/revoke`), page.getByRole("button", { name: "Sign out" }).click()]);
  await page.getByText("The list of tools needs credentials.").waitFor();
  assert.deepEqual(seen.revoked, [{ token: KEY, client_id: "client 1" }]);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await signIn(page);
  await account.waitFor();
  assert.deepEqual(seen.clients, ["client 1"]);
  // The server has a new key, and does not know the client any more.
  await page.getByRole("button", { name: "Sign out" }).click();
  seen.clients[0] = "forgotten";
  await signIn(page);
  await account.waitFor();
  assert.deepEqual([seen.clients, seen.query.client_id], [["forgotten", "client 2"], "client 2"]);
  assert.deepEqual(await visitor.problems(), []);
}));

test("scopes are asked for when they are needed, in addition to those that were allowed", () => visiting(async ({ visitor, page, context, address, seen }) => {
  await visitor.visit("/playground");
  await signIn(page);
  const allow = (scope) => page.getByRole("button", { name: `Allow ${scope}` });
  await allow("github:read").waitFor();
  await isAccessible(page);
  for (const width of [320, 1280]) assert.ok(await visitor.fits(width), `${width} pixels`);
  const replaced = () => page.waitForResponse(`${address}/oauth/revoke`);
  await Promise.all([replaced(), signIn(page, "Allow github:read")]);
  await allow("github:read").waitFor({ state: "detached" });
  // Ada could allow this one when she signed in.
  await Promise.all([replaced(), signIn(page, "Allow github:write")]);
  await page.getByRole("alert").getByText("You cannot allow github:write on this server.").waitFor();
  assert.deepEqual(seen.requested, ["profile", "profile github:read", "profile github:read github:write"]);
  // The account lists the last one only.
  assert.equal(seen.revoked.length, 2);
  // A call that lacks a scope: the list of tools is older than the server's.
  const challenge = 'Bearer realm="toolbooth", error="insufficient_scope", scope="github:read"';
  const rejected = { status: 403, contentType: "application/json", headers: { "www-authenticate": challenge }, body: '{"message":"It requires a scope"}' };
  await context.route("**/oxp/tools/call", (route) => route.fulfill(rejected), { times: 1 });
  await visitor.fill({ a: 17, b: 25 });
  await visitor.run();
  await page.getByText("This tool needs your permission: github:read").waitFor();
  await isAccessible(page);
  await signIn(page, "Allow and run");
  await page.locator(".value").getByText("42", { exact: true }).waitFor();
  // The models cost money, and have a scope of their own.
  await page.getByRole("tab", { name: "Chat" }).click();
  await isAccessible(page);
  await signIn(page, "Allow the chat");
  await page.getByRole("alert").getByText("You cannot allow gateway on this server.").waitFor();
  assert.equal(seen.requested.at(-1), "profile github:read gateway");
  assert.deepEqual(await visitor.problems(), []);
}));

test("a person is only asked for scopes that they can give", () => visiting(async ({ visitor, page }) => {
  await visitor.visit("/playground");
  await signIn(page);
  await page.getByRole("button", { name: "Allow github:read" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Allow github:write" }).count(), 0);
  assert.equal(await page.getByRole("tab", { name: "Chat" }).count(), 0);
}, { available: ["github:read"] }));

test("a visitor with a key that lacks a scope is not asked to sign in for it", () => visiting(async ({ visitor, page, context }) => {
  await visitor.open("Calculator.Add@1.0.0");
  const challenge = 'Bearer error="insufficient_scope", scope="github:read"';
  await context.route("**/oxp/tools/call", (route) => route.fulfill({ status: 403, contentType: "application/json", headers: { "www-authenticate": challenge }, body: '{"message":"It requires a scope"}' }));
  await visitor.run();
  await page.locator(".failure").getByText("It requires a scope").waitFor();
  assert.equal(await page.getByRole("button", { name: /Allow/ }).count(), 0);
}));

for (const [what, answer, message] of [
  ["of another issuer", { iss: "https://other.example" }, "did not come from this server"],
  ["with an error", { code: "", error: "server_error", error_description: "It is down" }, "It is down"],
  ["of a person who declined", { code: "", error: "access_denied" }, "You declined, and nothing was stored."],
]) {
  test(`a response ${what} signs nobody in`, () => visiting(async ({ visitor, page, seen }) => {
    await visitor.visit("/playground");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText(message).waitFor();
    assert.equal(seen.form, undefined);
  }, { answer }));
}

test("a visitor with a wrong key signs in: it is not sent to the authorization server", () => visiting(async ({ visitor, page }) => {
  await visitor.visit("/playground");
  await visitor.setKey(`${KEY}-wrong`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
  const sent = visitor.requests.filter((request) => /\/oauth\/(register|token)$|\/\.well-known\//.test(request.url()));
  assert.deepEqual([sent.length, sent.filter((request) => request.headers()["authorization"])], [3, []]);
}));

test("a server that could not tell whether it has a sign-in is asked again", () => visiting(async ({ visitor, page, context, address }) => {
  const metadata = `${address}/.well-known/oauth-authorization-server`;
  await context.route(metadata, (route) => route.abort(), { times: 1 });
  await context.route(metadata, (route) => route.fulfill({ status: 503, body: "" }), { times: 1 });
  const ended = (how) => page.waitForEvent(`request${how}`, (request) => request.url() === metadata);
  await Promise.all([ended("finished"), visitor.visit("/playground")]);
  await Promise.all([ended("failed"), page.getByRole("button", { name: "Set key" }).click()]);
  assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Set key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign in" }).waitFor();
}));

test("without an authorization server, there is only the key", () => visiting(async ({ visitor, page }) => {
  await visitor.visit("/playground");
  await page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
  // On this machine it says how to get a key, once it is known that nobody can sign in.
  await page.getByText("with the development key").waitFor();
  assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
}, null));
