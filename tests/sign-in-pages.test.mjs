// The consent page of sign-in in a real browser: who can make somebody agree, and who cannot. Tests that need no browser
// are in sign-in.test.mjs.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { isAccessible, launch, look } from "./support/chromium.mjs";
import { front } from "./support/front.mjs";
import { watchPage } from "./support/leaks.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { listen, listenSecurely } from "./support/server.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-ada`;
const EVIL_NAME = `<img src=x onerror="document.title='taken'"> & "friends"`;

let address, provider, worker, browser, site, clientId, callbacks;
before(async () => {
  address = await front();
  provider = await openidProvider(`${address.origin}/auth/callback/corp`);
  worker = await start(SAMPLES, {
    vars: {
      AUTH: "sign-in, api-key",
      API_KEYS: JSON.stringify([entryOf(KEY, "Ada", ["*"])]),
      PUBLIC_URL: address.origin,
      STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
      OAUTH_PROVIDERS: "corp",
      OAUTH_CORP_TITLE: "Corp",
      OAUTH_CORP_CLIENT_ID: CLIENT.id,
      OAUTH_CORP_CLIENT_SECRET: CLIENT.secret,
      OAUTH_CORP_ISSUER: provider.issuer,
      SIGN_IN_ALLOWED: [{ who: "corp:id/ada", scopes: ["*"] }],
    },
  });
  address.serve(worker);
  site = await pages();
  callbacks = site.callbacks;
  clientId = await register({ client_name: "Notebook", redirect_uris: [`${site.local}/callback`] });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await address?.close();
  await provider?.close();
  await site?.close();
  await worker?.close();
});

/** A server of the client, and of another site: `pages` has its HTML by path. The callback goes on to the parameter `to` of its address. */
async function pages() {
  const pages = {};
  const callbacks = [];
  const respond = (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (pathname === "/callback") {
      const { to, ...parameters } = Object.fromEntries(searchParams);
      callbacks.push(parameters);
      if (to !== undefined) return response.writeHead(307, { location: to }).end();
      pages[pathname] = "<h1>Back</h1><script>opener?.postMessage(location.search, '*')</script>";
    }
    response.writeHead(pathname in pages ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
    return response.end(`<!doctype html><html lang="en"><title>Site</title>${pages[pathname] ?? ""}`);
  };
  const { port, close } = await listen(respond);
  const secure = await listenSecurely(respond);
  return {
    pages,
    callbacks,
    secure: secure.base,
    // The same site as the Worker, with another origin; and another site.
    local: `http://localhost:${port}`,
    other: `http://127.0.0.1:${port}`,
    close: () => Promise.all([close(), secure.close()]),
  };
}

async function register(metadata) {
  const body = { token_endpoint_auth_method: "none", ...metadata };
  const { status, json, text } = await worker.post(body, { path: "/oauth/register" });
  assert.equal(status, 201, text);
  return json.client_id;
}

/** An authorization request of the client, and how it continues. */
function request(changes = {}) {
  const verifier = randomBytes(32).toString("base64url");
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: `${site.local}/callback`,
    state: "1",
    scope: "github:read offline_access",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${address.origin}/mcp`,
    ...changes,
  };
  const url = `${address.origin}/oauth/authorize?${new URLSearchParams(parameters)}`;
  /** Exchanges the code of the last callback; gives the person. */
  const finish = async () => {
    const { code, iss, state } = callbacks.at(-1);
    assert.deepEqual([iss, state], [address.origin, "1"]);
    const { client_id, redirect_uri } = parameters;
    const fields = { grant_type: "authorization_code", client_id, redirect_uri, code, code_verifier: verifier };
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const reply = await worker.request("POST", "/oauth/token", { headers, body: String(new URLSearchParams(fields)) });
    assert.equal(reply.status, 200, reply.text);
    const [, claims] = reply.json.access_token.split(".");
    return JSON.parse(Buffer.from(claims, "base64url")).sub;
  };
  return { url, finish };
}

/** A person with their own browser. */
class Person {
  static opened = [];

  static async sit(options = {}) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(120_000);
    const person = Object.assign(new Person(), { context, complaints: [] });
    person.page = await person.tab();
    Person.opened.push(person);
    return person;
  }

  async tab() {
    const page = await this.context.newPage();
    page.on("response", (response) => {
      watchPage(response.url());
      if (response.request().isNavigationRequest() && !response.frame().parentFrame()) this.status = response.status();
    });
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) this.complaints.push(message.text());
    });
    return page;
  }

  visit(url) {
    return this.page.goto(url);
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  async sees(title, status = 200) {
    await this.page.getByRole("heading", { name: title, exact: true }).waitFor();
    assert.equal(this.status, status, title);
  }

  /** Agrees with the key on the page that is open. */
  async agree(key = KEY) {
    await this.page.getByLabel("API key of this server").fill(key);
    await this.button("Allow with this key").click();
  }

  /** Signs in, so that a click on a button is enough from now on. */
  async begin() {
    await this.visit(request().url);
    await this.agree();
    await this.sees("Back");
    return this;
  }
}
afterEach(async () => {
  for (const { context, complaints } of Person.opened.splice(0)) {
    await context.close();
    assert.deepEqual(complaints, [], "a page violates its policy");
  }
  callbacks.splice(0);
  for (const path of Object.keys(site.pages)) delete site.pages[path];
  assert.deepEqual(address.faults.splice(0), []);
});

test("somebody agrees with a key, and the next time with a button", async () => {
  const person = await Person.sit();
  const first = request();
  await person.visit(first.url);
  await person.sees("Connect Notebook");
  const shown = await person.page.locator("main").innerText();
  const host = new URL(site.local).host;
  for (const part of ["Its name is not verified.", `${host}: a program on this computer.`, "github:read", "GitHub.ListIssues", "stays connected"]) {
    assert.ok(shown.includes(part), `${part}: ${shown}`);
  }
  assert.ok(!shown.includes("github:write"), shown);
  await person.agree();
  await person.sees("Back");
  assert.equal(await first.finish(), "api-key:Ada");
  const second = request();
  await person.visit(second.url);
  await person.sees("Connect Notebook");
  assert.equal(callbacks.length, 1, "a session does not replace the consent");
  await person.button("Allow as Ada").click();
  await person.sees("Back");
  assert.equal(await second.finish(), "api-key:Ada");
});

test("somebody who cancels grants nothing", async () => {
  const person = await Person.sit();
  await person.visit(request().url);
  await person.button("Deny").click();
  await person.sees("Back");
  assert.deepEqual(callbacks, [{ error: "access_denied", state: "1", iss: address.origin }]);
});

// Chromium applies `form-action` to the whole chain of redirects after a form: those of a provider, of the Worker, and of the client's own callback.
const CHAINS = [
  ["https, then the scheme of an application", () => `${site.secure}/callback?to=notebook%3A%2F%2Fconnected`],
  ["this computer, then the scheme of an application", () => `${site.local}/callback?to=notebook%3A%2F%2Fconnected`],
  ["this computer, then another http address", () => `${site.local}/callback?to=${encodeURIComponent(`${site.other}/arrived`)}`],
];
const WAYS = {
  Allow: (person) => person.agree(),
  Deny: (person) => person.button("Deny").click(),
  "a provider": async (person) => {
    await person.button("Allow and sign in with Corp").click();
    await person.page.getByLabel("Name").fill("ada");
    await person.button("Log in").click();
    await person.button("Allow").click();
  },
};
for (const [name, redirect] of CHAINS) {
  for (const [way, answer] of Object.entries(WAYS)) {
    test(`the browser leaves the page after ${way}: ${name}`, async () => {
      const person = await Person.sit({ ignoreHTTPSErrors: true });
      const redirect_uri = redirect();
      const to = new URL(redirect_uri).searchParams.get("to");
      const client_id = await register({ client_name: "Notebook", redirect_uris: [redirect_uri] });
      site.pages["/arrived"] = "<h1>Arrived</h1>";
      const left = person.page.waitForRequest((sent) => sent.url().startsWith(to));
      await person.visit(request({ client_id, redirect_uri }).url);
      await person.sees("Connect Notebook");
      await answer(person);
      await left;
      assert.equal(callbacks.length, 1);
      assert.equal("error" in callbacks[0], way === "Deny", JSON.stringify(callbacks));
      if (to.startsWith("http:")) await person.sees("Arrived");
    });
  }
}

test("the back button after a wrong key, and after the end", async () => {
  const person = await Person.sit();
  const { url, finish } = request();
  await person.visit(url);
  await person.agree("wrong");
  await person.sees("The key is not valid", 403);
  await look(person.page, "sign-in-wrong-key");
  await isAccessible(person.page);
  await person.page.goBack();
  await person.agree();
  await person.sees("Back");
  assert.equal(await finish(), "api-key:Ada");
  await person.page.goBack();
  await person.sees("Connect Notebook");
  await person.button("Allow as Ada").click();
  await person.sees("Back");
  assert.equal(callbacks.length, 2, "it is another code");
  assert.equal(await finish(), "api-key:Ada");
});

test("two tabs do not disturb each other", async () => {
  const person = await Person.sit();
  const [one, other] = [request(), request()];
  await person.visit(one.url);
  const first = person.page;
  person.page = await person.tab();
  await person.visit(other.url);
  await person.agree();
  await person.sees("Back");
  assert.equal(await other.finish(), "api-key:Ada");
  person.page = first;
  await person.agree();
  await person.sees("Back");
  assert.equal(await one.finish(), "api-key:Ada");
});

test("somebody signs in at a provider, and another account may not", async () => {
  for (const [login, title, status] of [["ada", "Back", 200], ["bob", "This account may not sign in", 403]]) {
    const person = await Person.sit();
    const { url, finish } = request();
    await person.visit(url);
    await person.button("Allow and sign in with Corp").click();
    await person.page.getByLabel("Name").fill(login);
    await person.button("Log in").click();
    await person.button("Allow").click();
    await person.sees(title, status);
    if (status === 200) assert.equal(await finish(), "corp:ada");
    else await isAccessible(person.page);
  }
  assert.equal(callbacks.length, 1);
});

test("a victim who is sent on to the provider signs nobody else in", async () => {
  const [sender, victim] = [await Person.sit(), await Person.sit()];
  let lure;
  sender.page.on("request", (sent) => {
    if (sent.url().startsWith(`${provider.issuer}/auth?`)) lure = sent.url();
  });
  await sender.visit(request().url);
  await sender.button("Allow and sign in with Corp").click();
  await sender.page.getByLabel("Name").waitFor();
  await victim.visit(lure);
  await victim.page.getByLabel("Name").fill("ada");
  await victim.button("Log in").click();
  await victim.button("Allow").click();
  await victim.sees("Continue in the browser where you started", 403);
  assert.deepEqual(callbacks, []);
});

test("another site can neither send the form nor frame the page", async () => {
  const victim = await (await Person.sit()).begin();
  callbacks.splice(0);
  // The sealed request of a page that the attacker has opened.
  const attacker = await Person.sit();
  const { url } = request();
  await attacker.visit(url);
  const sealed = await attacker.page.locator('input[name="request"]').first().inputValue();
  site.pages["/forged"] = `<form method="post" action="${address.origin}/oauth/authorize"><input name="request" value="${sealed}">
    <input name="with" value="session"></form><script>document.forms[0].submit()</script>`;
  for (const origin of [site.other, site.local]) {
    await victim.visit(`${origin}/forged`);
    await victim.sees("This did not start here", 403);
  }
  // From a page of the server itself, but in another browser.
  await victim.visit(request().url);
  await victim.page.locator('form:has(input[value="session"]) input[name="request"]').evaluate((input, value) => (input.value = value), sealed);
  await victim.button("Allow as Ada").click();
  await victim.sees("Continue in the browser where you started", 403);
  site.pages["/framing"] = `<h1>Framing</h1><iframe src="${url.replaceAll("&", "&amp;")}"></iframe>`;
  for (const origin of [site.other, site.local]) {
    await victim.visit(`${origin}/framing`);
    const [, frame] = victim.page.frames();
    await frame.waitForLoadState();
    assert.doesNotMatch(await frame.content(), /Notebook/);
  }
  victim.complaints.splice(0);
  assert.deepEqual(callbacks, []);
});

test("a touch screen has no pointer that reaches the page, so its buttons wait when it appears", async () => {
  const person = await Person.sit({ hasTouch: true, isMobile: true });
  await person.visit(request().url);
  const takesTaps = (milliseconds) =>
    person.button("Allow with this key").evaluate((button, at) => {
      // From the beginning, whatever time it is.
      button.style.animation = "none";
      button.getBoundingClientRect();
      button.style.animation = "";
      const [wait] = button.getAnimations();
      wait.pause();
      wait.currentTime = at;
      return getComputedStyle(button).pointerEvents !== "none";
    }, milliseconds);
  assert.deepEqual([await takesTaps(0), await takesTaps(590), await takesTaps(610)], [false, false, true]);
});

test("the second click of a double click that began elsewhere grants nothing", async () => {
  const victim = await (await Person.sit()).begin();
  callbacks.splice(0);
  const { mouse } = victim.page;
  const press = async () => {
    await mouse.down();
    await mouse.up();
  };
  // The buttons wait as an animation does. Its time stands still, so that a slow machine does not press later than the test means.
  const animations = await victim.context.newCDPSession(victim.page);
  await animations.send("Animation.enable");
  await animations.send("Animation.setPlaybackRate", { playbackRate: 0 });
  // The mouse reaches only what is in view.
  await victim.page.setViewportSize({ width: 1280, height: 1600 });
  await victim.visit(request().url);
  const box = await victim.button("Allow as Ada").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  // The page appears under the pointer.
  site.pages["/lure"] = "<h1>Lure</h1>";
  await victim.visit(`${site.other}/lure`);
  await mouse.move(x, y);
  await victim.visit(request().url);
  await press();
  await victim.sees("Connect Notebook");
  // The page was there, and what covered it disappears.
  await mouse.move(1, 1);
  await mouse.move(x, y);
  await press();
  // If a press had counted, it would have led away by now.
  await victim.page.waitForTimeout(1_000);
  await victim.sees("Connect Notebook");
  assert.deepEqual(callbacks, []);
  // Whoever has seen the page can press the button.
  await animations.send("Animation.setPlaybackRate", { playbackRate: 1 });
  await victim.button("Allow as Ada").evaluate((button) => Promise.all(button.getAnimations().map(({ finished }) => finished)));
  await press();
  await victim.sees("Back");
  assert.equal(callbacks.length, 1);
});

test("a client in a browser gets the result from the window that it has opened", async () => {
  const person = await Person.sit();
  const { url, finish } = request();
  site.pages["/client"] = `<h1>Client</h1><button onclick="window.open('${url}')">Connect</button><script>onmessage = ({ data }) => (document.title = data)</script>`;
  await person.visit(`${site.local}/client`);
  const opener = person.page;
  [person.page] = await Promise.all([person.context.waitForEvent("page"), person.button("Connect").click()]);
  await person.agree();
  await opener.waitForFunction(() => document.title.includes("code="));
  assert.equal(await finish(), "api-key:Ada");
});

test("the page fits, is accessible, works by keyboard, and runs nothing of a client", async () => {
  const loaded = [];
  const redirect_uris = [`${site.local}/callback`];
  const evil = await register({ client_name: EVIL_NAME, logo_uri: `${site.other}/logo`, redirect_uris });
  const long = await register({ client_name: "Aufzeichnungsverwaltungsprogramm".repeat(2), redirect_uris });
  const person = await (await Person.sit()).begin();
  person.page.on("request", (sent) => loaded.push(sent.url()));
  for (const [client_id, name, shown] of [
    [clientId, "Notebook", "sign-in"],
    [evil, EVIL_NAME.slice(0, 64).trim(), "sign-in-markup"],
    [long, "Aufzeichnungsverwaltungsprogramm".repeat(2), "sign-in-long"],
  ]) {
    await person.visit(request({ client_id, scope: "github:read github:write offline_access" }).url);
    await person.sees(`Connect ${name}`);
    await look(person.page, shown);
    await isAccessible(person.page);
    assert.equal(await person.page.title(), `Connect ${name}`);
  }
  assert.deepEqual(loaded.filter((url) => !url.startsWith(`${address.origin}/oauth/authorize?`)), []);
  await assert.rejects(person.page.addScriptTag({ content: "document.title = 'taken'" }));
  assert.equal(person.complaints.splice(0).length, 1, "the policy blocks it");
  const focused = () => person.page.evaluate(() => [document.activeElement.textContent || document.activeElement.name, getComputedStyle(document.activeElement).outlineStyle]);
  const order = [];
  for (let stops = 0; stops < 5; stops += 1) {
    await person.page.keyboard.press("Tab");
    order.push(await focused());
  }
  const solid = ["Allow as Ada", "Allow and sign in with Corp", "api_key", "Allow with this key", "Deny"];
  assert.deepEqual(order, solid.map((name) => [name, "solid"]));
  await person.page.keyboard.press("Enter");
  await person.sees("Back");
  assert.equal(callbacks.at(-1).error, "access_denied");
});

test("a page of a request that is not valid names where its link leads", async () => {
  const web = await register({ client_name: "Web", redirect_uris: ["https://client.example/cb"] });
  const person = await Person.sit();
  await person.visit(request({ client_id: web, redirect_uri: "https://client.example/cb", code_challenge_method: "plain" }).url);
  await person.sees("This request is not valid", 400);
  const link = person.page.getByRole("link", { name: "Back to client.example", exact: true });
  assert.match(await link.getAttribute("href"), /^https:\/\/client\.example\/cb\?error=invalid_request&/);
  await look(person.page, "sign-in-invalid");
  await isAccessible(person.page);
});
