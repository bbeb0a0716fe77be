// Who opens the link of a challenge, and the page of an account, in a real browser with a real authorization server; and
// what /doctor reports.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { isAccessible, launch, look } from "./support/chromium.mjs";
import { front } from "./support/front.mjs";
import { watchPage } from "./support/leaks.mjs";
import { github } from "./support/github.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { listen } from "./support/server.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const KEYS = { Ada: `${CANARY}-key-of-ada`, Bob: `${CANARY}-key-of-bob`, Calendar: `${CANARY}-key-of-the-calendar` };
const INPUT = { owner: "octocat", repository: "hello-world", title: "Found a bug" };
const LONG_NAME = `<img src=x> ${"Wochenplanungs-und-Terminvereinbarungsassistent".repeat(2)}`.slice(0, 64);

let address, provider, api, site, worker, browser;
before(async () => {
  address = await front();
  provider = await openidProvider(`${address.origin}/auth/callback/github`);
  api = await github(provider.account);
  site = await application();
  const entry = (name, more = {}) => ({ ...entryOf(KEYS[name], name, ["*"]), ...more });
  worker = await start(SAMPLES, {
    vars: {
      AUTH: "sign-in, api-key",
      API_KEYS: JSON.stringify([entry("Ada"), entry("Bob"), entry("Calendar", { verify_url: `${site.local}/connect` })]),
      PUBLIC_URL: address.origin,
      STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
      GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
      GITHUB_API_URL: api.base,
      OAUTH_PROVIDERS: "github",
      OAUTH_GITHUB_CLIENT_ID: CLIENT.id,
      OAUTH_GITHUB_CLIENT_SECRET: CLIENT.secret,
      OAUTH_GITHUB_ISSUER: provider.issuer,
    },
  });
  address.serve(worker);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  for (const server of [address, provider, api, site]) await server?.close();
  await worker?.close();
});

/**
 * An application with users of its own, whose page confirms that `site.user` uses the browser. `pages` are those of
 * another site, by path.
 */
async function application() {
  const pages = {};
  const { port, close } = await listen(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/connect") {
      const body = { state: url.searchParams.get("state"), user_id: site.user };
      try {
        site.confirmed = (await worker.post(body, { path: "/auth/confirm", headers: { "x-api-key": KEYS.Calendar } })).json;
        return response.writeHead(303, { location: site.confirmed.url }).end();
      } catch (error) {
        address.faults.push(error);
        return response.destroy();
      }
    }
    response.writeHead(url.pathname in pages ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
    response.end(`<!doctype html><html lang="en"><title>Site</title>${pages[url.pathname] ?? ""}`);
  });
  return {
    pages,
    // The same site as the Worker, with another origin; and another site.
    local: `http://localhost:${port}`,
    other: `http://127.0.0.1:${port}`,
    close,
  };
}

/** Somebody with a browser. */
class Person {
  static opened = [];

  static async sit(options) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const person = Object.assign(new Person(), { context, page, complaints: [] });
    page.on("response", (response) => {
      watchPage(response.url());
      if (response.request().isNavigationRequest() && !response.frame().parentFrame()) person.status = response.status();
    });
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) person.complaints.push(message.text());
    });
    Person.opened.push(person);
    return person;
  }

  visit(url) {
    return this.page.goto(url);
  }

  async press(name) {
    const control = this.page.getByRole("button", { name, exact: true }).or(this.page.getByRole("link", { name, exact: true }));
    await control.first().click();
  }

  async sees(title, status = 200) {
    await this.page.getByRole("heading", { name: title, exact: true, level: 1 }).waitFor();
    assert.equal(this.status, status, title);
  }

  /** Signs in on the page that is open. */
  async signIn(name) {
    await this.sees("Sign in");
    await this.page.getByLabel("API key of this server").fill(KEYS[name]);
    await this.press("Sign in with this key");
  }

  /** From the page of a challenge to the grant. */
  async grant() {
    await this.sees("Connect GitHub");
    await this.press("Continue to GitHub");
    await this.page.getByRole("heading", { name: "Log in" }).waitFor();
    await this.page.getByLabel("Name").fill("octocat");
    await this.press("Log in");
    await this.press("Allow");
    await this.sees("Done");
  }
}
afterEach(async () => {
  for (const { context, complaints } of Person.opened.splice(0)) {
    await context.close();
    assert.deepEqual(complaints, [], "a page violates its policy");
  }
  for (const path of Object.keys(site.pages)) delete site.pages[path];
  assert.deepEqual(address.faults.splice(0), []);
});

const redirect_uri = "http://localhost/callback";
async function register(client_name = "Notebook") {
  const body = { client_name, redirect_uris: [redirect_uri], token_endpoint_auth_method: "none" };
  const { status, json, text } = await worker.post(body, { path: "/oauth/register" });
  assert.equal(status, 201, text);
  return json.client_id;
}

const FORM = "application/x-www-form-urlencoded";
/** The tokens of a client that somebody has connected with their key. */
async function connect(name, client_id) {
  const verifier = randomBytes(32).toString("base64url");
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const parameters = { response_type: "code", client_id, redirect_uri, code_challenge, code_challenge_method: "S256" };
  const page = await worker.get(`/oauth/authorize?${new URLSearchParams(parameters)}`);
  const [, request] = /name="request" value="([^"]+)"/.exec(page.text);
  const cookie = [page.headers["set-cookie"]].flat()[0].split(";")[0];
  const headers = { "content-type": FORM, cookie, origin: address.origin, "sec-fetch-site": "same-origin" };
  const body = String(new URLSearchParams({ request, with: "key", api_key: KEYS[name] }));
  const { status, headers: { location }, text } = await worker.request("POST", "/oauth/authorize", { headers, body });
  assert.equal(status, 303, text);
  const code = new URL(location).searchParams.get("code");
  return tokens({ grant_type: "authorization_code", client_id, redirect_uri, code, code_verifier: verifier });
}
async function tokens(fields, expected = 200) {
  const headers = { "content-type": FORM };
  const { status, json, text } = await worker.request("POST", "/oauth/token", { headers, body: String(new URLSearchParams(fields)) });
  assert.equal(status, expected, text);
  return json;
}

/** A call for whom the headers and `context` name: the value, or the challenge. */
async function call(headers, context = {}) {
  const { status, json } = await worker.post({ tool_id: "GitHub.CreateIssue", input: INPUT, context }, { headers });
  return status === 200 ? { value: json.value } : { challenge: json.missing_requirements.authorization[0] };
}
const asPerson = ({ access_token }) => call({ authorization: `Bearer ${access_token}` });
const asUser = (user_id) => call({ "oxp-api-key": KEYS.Calendar }, { user_id });
const check = async ({ check_url }) => (await worker.get(check_url.slice(address.origin.length))).json.status;

test("the wrong person cannot use a challenge, and the right one can", async () => {
  const client = await register();
  const connected = await connect("Ada", client);
  const { challenge } = await asPerson(connected);
  const person = await Person.sit({ javaScriptEnabled: false });
  await person.visit(challenge.url);
  await look(person.page, "sign-in");
  await person.signIn("Bob");
  await person.sees("This link is for someone else", 403);
  assert.ok((await person.page.locator("main").innerText()).includes("Bob"));
  await look(person.page, "other-person");
  assert.equal(await check(challenge), "pending");
  await person.press("Use a different account");
  await person.signIn("Ada");
  await person.sees("Connect GitHub");
  const shown = await person.page.locator("main").innerText();
  for (const part of ["You are signed in as\nAda", "GitHub.CreateIssue"]) assert.ok(shown.includes(part), `${part}: ${shown}`);
  await person.visit(challenge.url);
  await person.grant();
  assert.equal(await check(challenge), "completed");
  assert.ok((await asPerson(connected)).value);
  assert.ok((await asPerson(await connect("Bob", client))).challenge, "it is nobody else's");
});

test("somebody who has gone to the provider and back still needs to be the right person for the next challenge", async () => {
  const { challenge } = await asPerson(await connect("Bob", await register()));
  const [bob, ada] = [await Person.sit(), await Person.sit()];
  for (const [person, name] of [[ada, "Ada"], [bob, "Bob"]]) {
    await person.visit(challenge.url);
    await person.signIn(name);
  }
  await ada.sees("This link is for someone else", 403);
  await isAccessible(ada.page);
  await bob.sees("Connect GitHub");
  await isAccessible(bob.page);
  // Bob signs out in another tab before he sends the form.
  const tab = await bob.context.newPage();
  await tab.goto(`${address.origin}/account`);
  await tab.getByRole("button", { name: "Sign out" }).click();
  await tab.getByRole("heading", { name: "You are signed out" }).waitFor();
  await bob.press("Continue to GitHub");
  await bob.signIn("Bob");
  await bob.sees("Connect GitHub");
  assert.equal(await check(challenge), "pending");
});

test("X20 X21 an application verifies its user; the wrong user and another browser do not get on", async () => {
  const { challenge } = await asUser("carol");
  const [person, victim] = [await Person.sit({ javaScriptEnabled: false }), await Person.sit()];
  site.user = "dave";
  await person.visit(challenge.url);
  await person.sees("This link is for someone else", 403);
  assert.equal(await check(challenge), "pending");
  site.user = "carol";
  await person.visit(challenge.url);
  await person.sees("Connect GitHub");
  const lure = site.confirmed.url;
  assert.ok((await person.page.locator("main").innerText()).includes(new URL(site.local).host));
  await look(person.page, "verified-user");
  await victim.visit(lure);
  await victim.sees("Continue in the browser where you started", 403);
  // The value is not in the address, and a reload needs none.
  assert.equal(person.page.url(), challenge.url);
  await person.page.reload();
  await person.grant();
  assert.equal(await check(challenge), "completed");
  assert.ok((await asUser("carol")).value);
});

test("the account shows what somebody has allowed, and they take it back", async () => {
  const day = () => new Date().toISOString().slice(0, 10);
  const began = day();
  const [client, other] = [await register(LONG_NAME), await register()];
  const connected = await connect("Ada", client);
  const stays = await connect("Ada", other);
  let granted = await asPerson(connected);
  const person = await Person.sit({ javaScriptEnabled: false });
  if (granted.challenge) {
    await person.visit(granted.challenge.url);
    await person.signIn("Ada");
    await person.grant();
    granted = await asPerson(connected);
  }
  assert.ok(granted.value);
  const token = api.tokens.at(-1);
  await person.visit(`${address.origin}/account`);
  if ((await person.page.getByRole("heading", { name: "Sign in" }).count()) > 0) await person.signIn("Ada");
  await person.sees("Your account");
  const shown = await person.page.locator("main").innerText();
  for (const part of ["Ada", "GitHub", "repo", "GitHub.ListIssues", LONG_NAME, "localhost", "github:write"]) {
    assert.ok(shown.includes(part), `${part}: ${shown}`);
  }
  assert.ok(shown.includes(began) || shown.includes(day()), shown);
  await look(person.page, "account");
  const disconnect = person.page.getByRole("button", { name: `Disconnect ${LONG_NAME}`, exact: true });
  await disconnect.click();
  await disconnect.waitFor({ state: "detached" });
  await person.sees("Your account");
  assert.ok(!(await person.page.locator("main").innerText()).includes(LONG_NAME));
  await tokens({ grant_type: "refresh_token", client_id: client, refresh_token: connected.refresh_token }, 400);
  await tokens({ grant_type: "refresh_token", client_id: other, refresh_token: stays.refresh_token });
  await person.press("Revoke access to GitHub");
  await person.page.getByText("You have not granted access to any account.").waitFor();
  await person.sees("Your account");
  assert.equal(await provider.account(token), undefined, "the provider has revoked it");
  assert.ok((await asPerson(stays)).challenge, "the next call asks again");
  // The page that the browser has kept may be sent again: it says that there is nothing left.
  await person.page.goBack();
  await person.sees("Your account");
  await person.press("Sign out");
  await person.sees("You are signed out");
  await look(person.page, "signed-out");
  await person.page.goBack();
  await person.sees("Sign in");
});

test("the account page is accessible, also with the keyboard alone", async () => {
  await connect("Bob", await register());
  const person = await Person.sit();
  await person.visit(`${address.origin}/account`);
  await isAccessible(person.page);
  await person.page.getByLabel("API key of this server").fill(KEYS.Bob);
  await person.page.keyboard.press("Enter");
  await person.sees("Your account");
  await isAccessible(person.page);
  const before = await person.page.getByRole("button", { name: "Disconnect Notebook" }).count();
  assert.ok(before > 0);
  await person.page.keyboard.press("Tab");
  await person.page.keyboard.press("Enter");
  await person.page.waitForFunction((count) => document.querySelectorAll('input[value="disconnect"]').length < count, before);
  await person.press("Sign out");
  await person.sees("You are signed out");
  await isAccessible(person.page);
});

test("another site can neither send a form of the account nor frame it", async () => {
  const [victim, attacker] = [await Person.sit(), await Person.sit()];
  for (const [person, name] of [[victim, "Ada"], [attacker, "Bob"]]) {
    await person.visit(`${address.origin}/account`);
    await person.signIn(name);
    await person.sees("Your account");
  }
  const sealed = await attacker.page.locator('input[name="form"]').first().inputValue();
  site.pages["/forged"] = `<form method="post" action="${address.origin}/account"><input name="form" value="${sealed}">
    <input name="do" value="sign-out"></form><script>document.forms[0].submit()</script>`;
  for (const origin of [site.other, site.local]) {
    await victim.visit(`${origin}/forged`);
    await victim.sees("This did not start here", 403);
  }
  // The form of somebody else, sent from the page itself.
  await victim.visit(`${address.origin}/account`);
  await victim.page.locator('form:has(input[value="sign-out"]) input[name="form"]').evaluate((input, value) => (input.value = value), sealed);
  await victim.press("Sign out");
  await victim.sees("This did not start here", 403);
  await victim.press("Back to your account");
  await victim.sees("Your account");
  site.pages["/framing"] = `<h1>Framing</h1><iframe src="${address.origin}/account"></iframe>`;
  for (const origin of [site.other, site.local]) {
    await victim.visit(`${origin}/framing`);
    const [, frame] = victim.page.frames();
    await frame.waitForLoadState();
    assert.doesNotMatch(await frame.content(), /Your account/);
  }
  victim.complaints.splice(0);
});

test("/doctor reports what each connector needs, without credentials", async () => {
  const { status, json, headers } = await worker.get("/doctor", { accept: "application/json", host: new URL(address.origin).host });
  assert.equal(status, 200);
  assert.equal(json.url, `${address.origin}/mcp`);
  const missing = Object.fromEntries(json.connectors.map(({ id, missing }) => [id, missing]));
  assert.deepEqual(missing, {
    claude: ["https"],
    chatgpt: ["https"],
    "claude-code": [],
    vscode: [],
    cursor: [],
    inspector: [],
  });
  const reply = await worker.get("/doctor", { "if-none-match": headers.etag, host: new URL(address.origin).host });
  assert.equal(reply.status, 304);
  assert.doesNotMatch(JSON.stringify(json), new RegExp(CANARY));
});
