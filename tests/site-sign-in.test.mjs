// Signing in on the site, in Chromium. The authorization server is a stand-in that the browser sees at the Worker's address.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { launch } from "./support/chromium.mjs";
import { CANARY } from "./support/leaks.mjs";
import { KEY, Visitor, startSite } from "./support/site.mjs";

let site, browser;
before(async () => {
  [site, browser] = await Promise.all([startSite(), launch()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/** Serves the endpoints of an authorization server at `origin`. `answer` changes the query of the response. Returns the requests. */
async function authorizationServer(context, origin, answer = {}) {
  const seen = {};
  const json = (route, body) => route.fulfill({ contentType: "application/json", body: JSON.stringify(body) });
  await context.route(`${origin}/.well-known/oauth-authorization-server`, (route) =>
    json(route, {
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/oauth/token`,
      registration_endpoint: `${origin}/oauth/register`,
      scopes_supported: ["github:read", "offline_access"],
      protected_resources: [`${origin}/mcp`],
    }),
  );
  await context.route(`${origin}/oauth/register`, (route) => {
    seen.registration = route.request().postDataJSON();
    return json(route, { client_id: "client" });
  });
  await context.route(`${origin}/oauth/authorize?*`, (route) => {
    seen.query = Object.fromEntries(new URL(route.request().url()).searchParams);
    const query = new URLSearchParams({ code: "code", state: seen.query.state, iss: origin, ...answer });
    return route.fulfill({ status: 303, headers: { location: `${seen.query.redirect_uri}?${query}` } });
  });
  await context.route(`${origin}/oauth/token`, (route) => {
    // As a server must, which takes the header for the credentials of a client (RFC 6749, 2.3.1).
    if (route.request().headers()["authorization"]) return route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ error: "invalid_client" }) });
    seen.form = Object.fromEntries(new URLSearchParams(route.request().postData()));
    return json(route, { access_token: KEY, token_type: "Bearer" });
  });
  return seen;
}

test("a visitor signs in: the code has a proof, and the token stays in memory", async () => {
  const { address } = site.worker;
  const visitor = await Visitor.arrive(browser, address);
  try {
    const { page, context } = visitor;
    const seen = await authorizationServer(context, address);
    await visitor.visit("/playground");
    const opened = page.waitForEvent("popup");
    await page.getByRole("button", { name: "Sign in" }).click();
    const popup = await opened;
    await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
    if (!popup.isClosed()) await popup.waitForEvent("close");
    const redirect = `${address}/signed-in`;
    assert.deepEqual(seen.registration.redirect_uris, [redirect]);
    const { state, code_challenge, ...query } = seen.query;
    const fixed = { response_type: "code", client_id: "client", redirect_uri: redirect, code_challenge_method: "S256", resource: `${address}/mcp`, scope: "github:read" };
    assert.deepEqual(query, fixed);
    assert.ok(state.length >= 43);
    const { code_verifier, ...form } = seen.form;
    assert.deepEqual(form, { grant_type: "authorization_code", code: "code", redirect_uri: redirect, client_id: "client", resource: `${address}/mcp` });
    assert.equal(createHash("sha256").update(code_verifier).digest("base64url"), code_challenge);
    for (const request of visitor.requests) assert.ok(!request.url().includes(CANARY), request.url());
    assert.equal(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])), '[{},{},""]');
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
  }
});

for (const [what, answer, message] of [
  ["of another issuer", { iss: "https://other.example" }, "did not come from this server"],
  ["with an error", { code: "", error: "access_denied", error_description: "You did not agree" }, "You did not agree"],
]) {
  test(`a response ${what} signs nobody in`, async () => {
    const { address } = site.worker;
    const visitor = await Visitor.arrive(browser, address);
    try {
      const { page, context } = visitor;
      const seen = await authorizationServer(context, address, answer);
      await visitor.visit("/playground");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText(message).waitFor();
      assert.equal(seen.form, undefined);
    } finally {
      await visitor.close();
    }
  });
}

test("a visitor with a wrong key signs in: it is not sent to the authorization server", async () => {
  const { address } = site.worker;
  const visitor = await Visitor.arrive(browser, address);
  try {
    const { page, context } = visitor;
    await authorizationServer(context, address);
    await visitor.visit("/playground");
    await visitor.setKey(`${KEY}-wrong`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
    const sent = visitor.requests.filter((request) => /\/oauth\/(register|token)$|\/\.well-known\//.test(request.url()));
    assert.deepEqual([sent.length, sent.filter((request) => request.headers()["authorization"])], [3, []]);
  } finally {
    await visitor.close();
  }
});

test("a server that could not tell whether it has a sign-in is asked again", async () => {
  const { address } = site.worker;
  const visitor = await Visitor.arrive(browser, address);
  try {
    const { page, context } = visitor;
    const metadata = `${address}/.well-known/oauth-authorization-server`;
    await authorizationServer(context, address);
    await context.route(metadata, (route) => route.abort(), { times: 1 });
    await context.route(metadata, (route) => route.fulfill({ status: 503, body: "" }), { times: 1 });
    const finished = page.waitForEvent("requestfinished", (request) => request.url() === metadata);
    await visitor.visit("/playground");
    await finished;
    const failed = page.waitForEvent("requestfailed", (request) => request.url() === metadata);
    await page.getByRole("button", { name: "Set key" }).click();
    await failed;
    assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Set key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign in" }).waitFor();
  } finally {
    await visitor.close();
  }
});

test("without an authorization server, there is only the key", async () => {
  const visitor = await Visitor.arrive(browser, site.worker.address);
  try {
    await visitor.visit("/playground");
    await visitor.page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
    await visitor.page.waitForLoadState("networkidle");
    assert.equal(await visitor.page.getByRole("button", { name: "Sign in" }).count(), 0);
  } finally {
    await visitor.close();
  }
});
