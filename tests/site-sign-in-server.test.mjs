// Signing in on the site at the real authorization server, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { standIn } from "../packages/toolbooth/src/provider.js";
import { isAccessible, launch, look, picture } from "./support/chromium.mjs";
import { front } from "./support/front.mjs";
import { CANARY } from "./support/leaks.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { KEY, Visitor, startSite } from "./support/site.mjs";

/** The Worker without the checks of contracts, which only know JSON. */
const unchecked = (worker) => ({
  async request(method, path, { headers, body }) {
    const response = await fetch(worker.address + path, { method, headers, body, redirect: "manual" });
    const { "content-encoding": _, "transfer-encoding": __, ...rest } = Object.fromEntries(response.headers);
    const cookies = response.headers.getSetCookie();
    return { status: response.status, headers: { ...rest, ...(cookies.length > 0 && { "set-cookie": cookies }) }, text: await response.text() };
  },
});

let address, provider, authorization, site, browser;
before(async () => {
  address = await front();
  provider = await openidProvider(`${address.origin}/auth/callback/corp`);
  authorization = await standIn(["github"], address.origin);
  [site, browser] = await Promise.all([
    startSite({
      vars: {
        AUTH: "sign-in, api-key",
        ALLOWED_ORIGINS: undefined,
        PUBLIC_URL: address.origin,
        STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
        ...authorization.vars,
        ...authorization.services,
        OAUTH_PROVIDERS: "corp,github",
        OAUTH_CORP_TITLE: "Corp",
        OAUTH_CORP_CLIENT_ID: CLIENT.id,
        OAUTH_CORP_CLIENT_SECRET: CLIENT.secret,
        OAUTH_CORP_ISSUER: provider.issuer,
        SIGN_IN_ALLOWED: [{ who: "corp:id/ada", scopes: ["*"] }],
      },
    }),
    launch(),
  ]);
  address.serve(unchecked(site.worker));
});
after(async () => {
  await browser?.close();
  await site?.close();
  await provider?.close();
  authorization?.close();
  await address?.close();
});

/** Presses the last button in a window, which closes by itself, perhaps while Playwright still waits for its next page. */
const pressLast = (button) =>
  button.click().catch((error) => {
    if (!button.page().isClosed()) throw error;
  });
/** Waits until the server has ended the access of a token: the page does not wait for that. */
const revoked = (page) => page.waitForResponse((response) => response.url().endsWith("/oauth/revoke"));

for (const [how, name, agree] of [
  [
    "with an API key",
    "visitor",
    async (consent) => {
      await consent.getByLabel("API key of this server").fill(KEY);
      await pressLast(consent.getByRole("button", { name: "Allow with this key" }));
    },
  ],
  [
    "at a provider, whose pages sever the window",
    "ada",
    async (consent) => {
      await consent.getByRole("button", { name: "Allow and sign in with Corp" }).click();
      await consent.getByLabel("Name").fill("ada");
      await consent.getByRole("button", { name: "Log in" }).click();
      await pressLast(consent.getByRole("button", { name: "Allow" }));
    },
  ],
]) {
  test(`a visitor signs in ${how}, and calls a tool`, async () => {
    const visitor = await Visitor.arrive(browser, address.origin);
    try {
      const { page } = visitor;
      await visitor.visit("/playground");
      const [consent] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name: "Sign in" }).click()]);
      await agree(consent);
      await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
      if (!consent.isClosed()) await consent.waitForEvent("close");
      await visitor.fill({ a: 17, b: 25 });
      await visitor.run();
      await page.locator(".value").getByText("42", { exact: true }).waitFor();
      // The tools with scopes are there once they are allowed, in the same way.
      const tool = page.getByRole("link", { name: /^List issues/ });
      assert.equal(await tool.count(), 0);
      const [further] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name: "Allow github:read" }).click()]);
      const allow = further.getByRole("button", { name: `Allow as ${name}` });
      await allow.waitFor();
      assert.equal(await further.evaluate(() => sessionStorage.getItem("credential")), null, "no copy of the credential");
      await Promise.all([revoked(page), pressLast(allow)]);
      await tool.waitFor();
      const account = await page.context().newPage();
      await account.goto(address.origin + (await page.getByRole("link", { name: `${name}: your account` }).getAttribute("href")));
      const connected = account.getByRole("heading", { name: /^Playground · Chrome on \w+$/ });
      await connected.waitFor();
      assert.equal(await connected.count(), 1, "the second sign-in has replaced the first");
      // The account leads back to the tool.
      await page.evaluate(() => (location.hash = "Calculator.Add%401.0.0"));
      await page.getByRole("link", { name: `${name}: your account` }).click();
      await page.getByRole("link", { name: "Back to the playground" }).click();
      await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
      await Promise.all([revoked(page), page.getByRole("button", { name: "Sign out" }).click()]);
      await page.getByRole("heading", { name: "You are signed out" }).waitFor();
      await account.reload();
      await account.getByText("No application is connected.").waitFor();
      assert.deepEqual(await visitor.problems(), []);
    } finally {
      await visitor.close();
    }
  });
}

test("a person who has signed in authorizes a tool: the pages name the playground and the tool, and the call repeats", async () => {
  const visitor = await Visitor.arrive(browser, address.origin);
  try {
    const { page } = visitor;
    const inWindow = async (button, use) => {
      const [opened] = await Promise.all([page.waitForEvent("popup"), button.click()]);
      await use(opened);
    };
    // The link of a tool that the list has only with its scope.
    await visitor.visit("/playground#GitHub.ListIssues@1.0.0");
    await inWindow(page.getByRole("button", { name: "Sign in" }), async (consent) => {
      await consent.getByLabel("API key of this server").fill(KEY);
      await pressLast(consent.getByRole("button", { name: "Allow with this key" }));
    });
    await page.getByText("may need a permission that you have not given this page").waitFor();
    await inWindow(page.getByRole("button", { name: "Allow github:read" }), (consent) => pressLast(consent.getByRole("button", { name: "Allow as visitor" })));
    await page.locator(".tool-id").getByText("GitHub.ListIssues@1.0.0").waitFor();
    await visitor.fill({ owner: "octocat", repository: "hello-world" });
    assert.equal(await page.getByLabel("User", { exact: true }).count(), 0);
    assert.equal(await page.getByLabel("Access token for github").isVisible(), false);
    await visitor.run();
    await page.getByText("asks for access to your account at GitHub (stand-in).").waitFor();
    await isAccessible(page);
    assert.ok(await visitor.fits(320));
    await picture(page, "step-of-a-person-narrow");
    await page.setViewportSize({ width: 1280, height: 900 });
    await picture(page, "step-of-a-person");
    const [consent] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "Continue to GitHub (stand-in)" }).click()]);
    await consent.getByText(/^Playground · Chrome on \w+ asks for access to your account at GitHub/).waitFor();
    await look(consent, "challenge-of-a-person");
    await consent.getByRole("button", { name: "Continue to GitHub (stand-in)" }).click();
    await consent.getByRole("link", { name: "Allow" }).click();
    await consent.getByRole("heading", { name: "Done" }).waitFor();
    await page.locator(".value").getByText("1347", { exact: true }).waitFor();
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
  }
});
