// A user authorizes a tool (X20, X21, X48) in a real browser, with a real authorization server. Tests that
// need neither are in challenge.test.mjs.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { launch, look } from "./support/chromium.mjs";
import { front } from "./support/front.mjs";
import { github } from "./support/github.mjs";
import { claims, hmac, token } from "./support/issuer.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-the-calendar`;
const WORDY = `${CANARY}-key-of-another`;
const LONG_NAME = "Wochenplanungs-und-Terminvereinbarungsassistent".repeat(2).slice(0, 64);
const STATE_KEY = `${CANARY}-state-key-of-at-least-32-bytes`;
const JWT_SECRET = `${CANARY}-jwt-secret-of-at-least-32-bytes`;
const INPUT = { owner: "octocat", repository: "hello-world", title: "Found a bug" };
// The scopes that a caller needs for the GitHub tools.
const SCOPES = ["github:read", "github:write"];
const ISSUE = { number: 1347, title: "Found a bug", state: "open", url: "https://github.com/octocat/hello-world/issues/1347" };

// A request header sets the Worker's clock forward. The Worker reads it from `Date.now`.
const AHEAD = `
const now = Date.now;
let ahead = 0;
Date.now = () => now() + ahead;
export default { fetch(request, env, context) {
  ahead = Number(request.headers.get("test-ahead-ms"));
  return Worker.fetch(request, env, context);
} };`;

let address, provider, api, worker, browser;
before(async () => {
  address = await front();
  provider = await openidProvider(`${address.origin}/auth/callback/github`);
  api = await github(provider.account);
  const vars = {
    AUTH: "api-key,jwt",
    API_KEYS: JSON.stringify([entryOf(KEY, "Calendar", SCOPES), entryOf(WORDY, LONG_NAME, SCOPES)]),
    JWT_SECRET,
    GITHUB_API_URL: api.base,
    OAUTH_PROVIDERS: "github",
    PUBLIC_URL: address.origin,
    STATE_KEY,
    GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
    OAUTH_GITHUB_CLIENT_ID: CLIENT.id,
    OAUTH_GITHUB_CLIENT_SECRET: CLIENT.secret,
    OAUTH_GITHUB_ISSUER: provider.issuer,
    // The server only grants this if the request asks for consent.
    OAUTH_GITHUB_SCOPES: "offline_access",
  };
  worker = await start(SAMPLES, { vars, around: AHEAD });
  address.serve(worker);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await address?.close();
  await provider?.close();
  await api?.close();
  const logs = JSON.stringify(await worker?.logs());
  await worker?.close();
  for (const secret of provider?.secrets ?? []) assert.ok(!logs.includes(secret), "the log contains a code or token");
});

// Each test has its own users, because grants persist.
let users = 0;
const newUser = () => `${CANARY}-user-${(users += 1)}`;

// Applications. Each makes the same call for a user and returns its value or the challenge.
function oxp(user_id, key = KEY) {
  return async () => {
    const body = { tool_id: "GitHub.CreateIssue", input: INPUT, context: { user_id } };
    const { status, json } = await worker.post(body, { headers: { "oxp-api-key": key } });
    return status === 200 ? { value: json.value } : { challenge: json.missing_requirements.authorization[0] };
  };
}
function openTool(user) {
  const authorization = `Bearer ${token({ alg: "HS256" }, claims({ sub: user, scope: "github:write" }), hmac(JWT_SECRET))}`;
  return async () => {
    const body = { jsonrpc: "2.0", id: "1", method: "GitHub_CreateIssue", params: INPUT };
    const { error, result } = (await worker.post(body, { path: "/opentool/call", headers: { authorization } })).json;
    return error ? { challenge: error.data.missing_requirements.challenges[0] } : { value: result };
  };
}

const path = (url) => {
  assert.ok(url.startsWith(`${address.origin}/auth/`), url);
  return url.slice(address.origin.length);
};
async function check({ check_url }) {
  const { status, json } = await worker.get(path(check_url), address.added);
  assert.equal(status, 200);
  return json.status;
}
async function challenged(call) {
  const { challenge, value } = await call();
  assert.deepEqual([value, await check(challenge)], [undefined, "pending"]);
  return challenge;
}

/** A user with their own browser. */
class Person {
  static opened = [];

  static async sit(options) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const person = Object.assign(new Person(), { context, page, complaints: [] });
    Person.opened.push(person);
    page.on("response", (response) => {
      if (response.request().isNavigationRequest()) person.status = response.status();
    });
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) person.complaints.push(message.text());
    });
    return person;
  }

  visit(url) {
    return this.page.goto(url);
  }

  press(name) {
    return this.page.getByRole("button", { name, exact: true }).or(this.page.getByRole("link", { name, exact: true })).click();
  }

  async sees(title, status = 200) {
    await this.page.getByRole("heading", { name: title, exact: true }).waitFor();
    assert.equal(this.status, status, title);
  }

  /** From our page to the provider's consent page. */
  async logIn(challenge, name) {
    await this.visit(challenge.url);
    await this.sees("Connect GitHub");
    await this.press("Continue to GitHub");
    await this.sees("Log in");
    await this.page.getByLabel("Name").fill(name);
    await this.press("Log in");
    await this.sees("Consent");
  }

  /** Completes the whole flow. */
  async grant(challenge, name) {
    await this.logIn(challenge, name);
    await this.press("Allow");
    await this.sees("Done");
  }

  /** Completes the flow except for the callback, and returns its URL. */
  async hold(challenge, name) {
    await this.logIn(challenge, name);
    const held = address.hold("/auth/callback/github?");
    await this.press("Allow");
    return `${address.origin}${await held}`;
  }
}
afterEach(async () => {
  for (const key of Object.keys(provider.now)) delete provider.now[key];
  provider.events.splice(0);
  delete address.added["test-ahead-ms"];
  for (const { context, complaints } of Person.opened.splice(0)) {
    await context.close();
    assert.deepEqual(complaints, [], "a page violates its policy");
  }
  assert.deepEqual(address.faults.splice(0), []);
});

for (const [protocol, application, asks, javaScriptEnabled] of [
  ["OXP", oxp, "Calendar asks for access to your account at GitHub.", false],
  ["OpenTool", openTool, "An application asks for access to your account at GitHub.", true],
]) {
  test(`X20 X21 ${protocol}: a call, the pages, a grant, and the call again; scripts ${javaScriptEnabled ? "on" : "off"}`, async () => {
    const user = newUser();
    const call = application(user);
    const challenge = await challenged(call);
    const person = await Person.sit({ javaScriptEnabled });
    await person.visit(challenge.url);
    await person.sees("Connect GitHub");
    const shown = await person.page.locator("main").innerText();
    for (const part of [asks, user, "Create an issue (GitHub.CreateIssue)", "GitHub.ListIssues", "repo", "offline_access"]) {
      assert.ok(shown.includes(part), `${part}: ${shown}`);
    }
    await person.grant(challenge, "octocat");
    assert.equal(await check(challenge), "completed");
    assert.deepEqual(await call(), { value: ISSUE });
    assert.equal(await provider.account(api.tokens.at(-1)), "octocat");
    await challenged(application(newUser()));
  });
}

test("X21 a user who declines is asked again by the next call", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const person = await Person.sit();
  await person.logIn(challenge, "octocat");
  await person.press("Deny");
  await person.sees("You declined", 403);
  await look(person.page, "denied");
  assert.equal(await check(challenge), "failed");
  const { url } = await challenged(call);
  await person.visit(url);
  await person.press("Continue to GitHub");
  await person.sees("Consent");
  await person.press("Allow");
  await person.sees("Done");
  assert.deepEqual(await call(), { value: ISSUE });
});

for (const [when, minutes, status] of [
  ["it has expired", 15, "failed"],
  ["the user's time is over", 14, "pending"],
]) {
  const wait = () => (address.added["test-ahead-ms"] = String(minutes * 60_000));

  test(`X21 a challenge that is opened after ${when}`, async () => {
    const challenge = await challenged(oxp(newUser()));
    const person = await Person.sit();
    wait();
    await person.visit(challenge.url);
    await person.sees("This took too long", 400);
    await look(person.page, "expired");
    assert.equal(await check(challenge), status);
  });

  test(`X21 a user who comes back from the provider after ${when}`, async () => {
    const call = oxp(newUser());
    const challenge = await challenged(call);
    const person = await Person.sit();
    await person.logIn(challenge, "octocat");
    wait();
    await person.press("Allow");
    await person.sees("This took too long", 400);
    assert.deepEqual(provider.events, [], "the code is not used");
    assert.equal(await check(challenge), status);
  });
}

test("another browser that opens the callback is rejected, and the first can continue", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const [first, other] = [await Person.sit(), await Person.sit()];
  const back = await first.hold(challenge, "octocat");
  await other.visit(back);
  await other.sees("Continue in the browser where you started", 403);
  await look(other.page, "other-browser");
  assert.deepEqual(provider.events, [], "the code is not used");
  await challenged(call);
  await first.visit(back);
  await first.sees("Done");
  assert.equal(await check(challenge), "completed");
});

test("a victim who is sent on to the provider grants the sender nothing", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const [sender, victim] = [await Person.sit(), await Person.sit()];
  let lure;
  sender.page.on("request", (request) => {
    if (request.url().startsWith(`${provider.issuer}/auth?`)) lure = request.url();
  });
  await sender.visit(challenge.url);
  await sender.press("Continue to GitHub");
  await sender.sees("Log in");
  await victim.visit(lure);
  await victim.page.getByLabel("Name").fill("victim");
  await victim.press("Log in");
  await victim.press("Allow");
  await victim.sees("Continue in the browser where you started", 403);
  assert.deepEqual(provider.events, [], "the code is not used");
  await challenged(call);
});

test("a tampered state is rejected, and the original still works", async () => {
  const challenge = await challenged(oxp(newUser()));
  const person = await Person.sit();
  const back = await person.hold(challenge, "octocat");
  const [state] = /(?<=[?&]state=)[^&]+/.exec(back);
  for (const bad of [(state.startsWith("A") ? "B" : "A") + state.slice(1), state.slice(0, -1), `${state}A`, "", challenge.url.split("?c=")[1]]) {
    await person.visit(back.replace(state, bad));
    await person.sees("This address is not valid", 400);
    assert.equal(await check(challenge), "pending");
  }
  await look(person.page, "invalid");
  assert.deepEqual(provider.events, [], "the code is not used");
  await person.visit(back);
  await person.sees("Done");
});

test("a repeated callback shows the same page and does not use the code", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const person = await Person.sit();
  const back = await person.hold(challenge, "octocat");
  await person.visit(back);
  await person.sees("Done");
  await person.page.reload();
  await person.sees("Done");
  await person.visit(back);
  await person.sees("Done");
  await look(person.page, "done");
  assert.deepEqual(provider.events, ["authorization_code"]);
  assert.equal(await check(challenge), "completed");
  assert.deepEqual(await call(), { value: ISSUE });
});

test("a repeated callback, before the browser has the response to the first", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const person = await Person.sit();
  const back = await person.hold(challenge, "octocat");
  const cookies = await person.context.cookies(address.origin);
  await person.visit(back);
  await person.sees("Done");
  await person.context.addCookies(cookies);
  await person.visit(back);
  await person.sees("The service rejected the authorization", 400);
  assert.equal(await check(challenge), "completed");
  // This provider would treat the second use of a code as theft (RFC 6749, 4.1.2) and revoke the grant: the code is not sent again.
  assert.deepEqual(provider.events, ["authorization_code"]);
  assert.deepEqual(await call(), { value: ISSUE });
});

test("a provider that goes down during the exchange can be retried", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const person = await Person.sit();
  await person.logIn(challenge, "octocat");
  provider.now.down = true;
  await person.press("Allow");
  await person.sees("The service does not respond", 502);
  await look(person.page, "provider-down");
  assert.equal(await check(challenge), "pending");
  delete provider.now.down;
  await person.press("Try again");
  await person.sees("Connect GitHub");
  // The provider remembers the user and the consent.
  await person.press("Continue to GitHub");
  await person.sees("Done");
  assert.equal(await check(challenge), "completed");
  assert.deepEqual(await call(), { value: ISSUE });
});

/** A user who has granted what `call` needs. */
async function granted(call) {
  const person = await Person.sit();
  await person.grant(await challenged(call), "octocat");
  return person;
}

test("an expired access token is refreshed, each time with the newest refresh token", async () => {
  provider.now.expires_in = 0;
  const call = oxp(newUser());
  await granted(call);
  const before = api.tokens.length;
  for (let times = 0; times < 3; times += 1) assert.deepEqual(await call(), { value: ISSUE });
  assert.deepEqual(provider.events, ["authorization_code", ...Array(3).fill("refresh_token")]);
  assert.equal(new Set(api.tokens.slice(before)).size, 3);
});

for (const [what, expires_in, which, questions] of [
  ["access token", 3600, () => api.tokens.at(-1), []],
  ["refresh token", 0, () => [...provider.secrets].at(-1), ["Consent"]],
]) {
  test(`X48 if the provider revokes the ${what} of a grant, the next call gets a challenge, and then a new grant`, async () => {
    provider.now.expires_in = expires_in;
    const call = oxp(newUser());
    const person = await granted(call);
    assert.deepEqual(await call(), { value: ISSUE });
    assert.equal(await provider.revoke(which()), 200);
    const challenge = await challenged(call);
    await person.visit(challenge.url);
    await person.press("Continue to GitHub");
    for (const question of questions) {
      await person.sees(question);
      await person.press("Allow");
    }
    await person.sees("Done");
    assert.equal(await check(challenge), "completed");
    assert.deepEqual(await call(), { value: ISSUE });
  });
}

test("a grant that its user deletes is requested again", async () => {
  const user = newUser();
  const call = oxp(user);
  await granted(call);
  assert.deepEqual(await call(), { value: ISSUE });
  const forget = { headers: { "oxp-api-key": KEY } };
  assert.equal((await worker.request("DELETE", `/auth/grants/github?user_id=${user}`, forget)).status, 204);
  await challenged(call);
});

test("the opener of the page has no access to its window, and the flow continues there", async () => {
  const call = oxp(newUser());
  const challenge = await challenged(call);
  const person = await Person.sit();
  // A page of another origin, like an application in a browser.
  await person.visit(`${provider.issuer}/.well-known/openid-configuration`);
  const opener = person.page;
  const open = (url) => (globalThis.opened = window.open(url)) && undefined;
  [person.page] = await Promise.all([person.context.waitForEvent("page"), opener.evaluate(open, challenge.url)]);
  await person.page.getByRole("heading", { name: "Connect GitHub", exact: true }).waitFor();
  assert.equal(await person.page.evaluate(() => window.opener), null);
  // The opener sees it as closed, a moment later.
  await opener.waitForFunction(() => globalThis.opened.closed);
  await person.press("Continue to GitHub");
  await person.page.getByLabel("Name").fill("octocat");
  await person.press("Log in");
  await person.press("Allow");
  await person.page.getByRole("heading", { name: "Done", exact: true }).waitFor();
  assert.equal(await check(challenge), "completed");
  assert.deepEqual(await call(), { value: ISSUE });
});

test("the page fits long names, can be used by keyboard, and runs nothing that is injected", async () => {
  const person = await Person.sit();
  const { url } = await challenged(oxp(newUser()));
  await person.visit(url);
  await look(person.page, "question");
  const long = await challenged(oxp(`${CANARY}-`.padEnd(128, "user"), WORDY));
  await person.visit(long.url);
  await look(person.page, "question-long");

  await person.page.keyboard.press("Tab");
  const focus = await person.page.evaluate(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return [document.activeElement.textContent, outlineStyle, parseFloat(outlineWidth) >= 2];
  });
  assert.deepEqual(focus, ["Continue to GitHub", "solid", true]);
  await look(person.page, "question-focus");
  await assert.rejects(person.page.addScriptTag({ content: "document.title = 'taken'" }));
  await assert.rejects(person.page.addStyleTag({ content: "main { display: none }" }));
  assert.equal(person.complaints.splice(0).length, 2, "the policy blocks it");
  assert.equal(await person.page.title(), "Connect GitHub");
  await person.page.keyboard.press("Enter");
  await person.sees("Log in");
});

test("the help for developers is readable", async () => {
  const person = await Person.sit();
  await person.visit(`${address.origin}/auth/help/github`);
  await person.sees("Authorization: github");
  await look(person.page, "help");
  assert.deepEqual(person.complaints, []);
});
