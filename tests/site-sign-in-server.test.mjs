// Signing in on the site at the real authorization server, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./support/chromium.mjs";
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

let address, provider, site, browser;
before(async () => {
  address = await front();
  provider = await openidProvider(`${address.origin}/auth/callback/corp`);
  [site, browser] = await Promise.all([
    startSite({
      vars: {
        AUTH: "sign-in, api-key",
        ALLOWED_ORIGINS: undefined,
        PUBLIC_URL: address.origin,
        STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
        OAUTH_PROVIDERS: "corp",
        OAUTH_CORP_TITLE: "Corp",
        OAUTH_CORP_CLIENT_ID: CLIENT.id,
        OAUTH_CORP_CLIENT_SECRET: CLIENT.secret,
        OAUTH_CORP_ISSUER: provider.issuer,
        SIGN_IN_ALLOWED: "corp:id/ada",
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
  await address?.close();
});

for (const [how, name, agree] of [
  [
    "with an API key",
    "visitor",
    async (consent) => {
      await consent.getByLabel("API key of this server").fill(KEY);
      await consent.getByRole("button", { name: "Allow with this key" }).click();
    },
  ],
  [
    "at a provider, whose pages sever the window",
    "ada",
    async (consent) => {
      await consent.getByRole("button", { name: "Allow and sign in with Corp" }).click();
      await consent.getByLabel("Name").fill("ada");
      await consent.getByRole("button", { name: "Log in" }).click();
      await consent.getByRole("button", { name: "Allow" }).click();
    },
  ],
]) {
  test(`a visitor signs in ${how}, and calls a tool`, async () => {
    const visitor = await Visitor.arrive(browser, address.origin);
    try {
      const { page } = visitor;
      await visitor.visit("/playground");
      const opened = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Sign in" }).click();
      const consent = await opened;
      await agree(consent);
      await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
      if (!consent.isClosed()) await consent.waitForEvent("close");
      await visitor.fill({ a: 17, b: 25 });
      await visitor.run();
      await page.locator(".value").getByText("42", { exact: true }).waitFor();
      // The tools with scopes are there once they are allowed, in the same way.
      const tool = page.getByRole("link", { name: /^ListIssues/ });
      assert.equal(await tool.count(), 0);
      const more = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Allow github:read" }).click();
      await (await more).getByRole("button", { name: `Allow as ${name}` }).click();
      await tool.waitFor();
      const account = await page.context().newPage();
      await account.goto(address.origin + (await page.getByRole("link", { name: `${name}: your account` }).getAttribute("href")));
      const connected = account.getByRole("heading", { name: /^Playground · Chrome on \w+$/ });
      await connected.waitFor();
      assert.equal(await connected.count(), 1, "the second sign-in has replaced the first");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
      await account.reload();
      await account.getByText("No application is connected.").waitFor();
      assert.deepEqual(await visitor.problems(), []);
    } finally {
      await visitor.close();
    }
  });
}
