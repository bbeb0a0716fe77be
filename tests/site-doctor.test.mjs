// The page of GET /doctor, in Chromium, with a report that has everything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccessible, launch } from "./support/chromium.mjs";
import { Visitor, startSite } from "./support/site.mjs";

const REPORT = {
  url: "https://tools.example.com/mcp",
  connectors: [
    { id: "claude", title: "claude.ai", ok: true, missing: [] },
    { id: "chatgpt", title: "ChatGPT", ok: false, missing: ["authorization"] },
    { id: "cursor", title: "Cursor", ok: true, missing: [], note: "works with an API key" },
  ],
  checks: [
    { id: "https", state: "passed", meaning: "The address is https.", connectors: ["claude", "chatgpt", "cursor"] },
    { id: "authorization", state: "failed", meaning: "People cannot sign in.", fix: "Set AUTH to sign-in.", connectors: ["chatgpt"] },
    { id: "registration", state: "unknown", meaning: "The authorization server lets clients register.", fix: "Look at its metadata.", connectors: ["claude", "chatgpt", "cursor"] },
    { id: "redirect-scheme", state: "info", meaning: "The authorization server redirects to cursor://…", fix: "Add cursor to SIGN_IN_REDIRECT_SCHEMES.", connectors: ["cursor"] },
  ],
};

test("the report: each client, and each requirement with its fix and the clients that need it", async () => {
  const [site, browser] = await Promise.all([startSite(), launch()]);
  const visitor = await Visitor.arrive(browser, site.worker.address);
  const { page } = visitor;
  try {
    await visitor.context.route("**/doctor", (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.fulfill({ contentType: "application/json", body: JSON.stringify(REPORT) }),
    );
    await visitor.visit("/doctor");
    const section = (name) => page.getByRole("region", { name, exact: true });
    const clients = section("Clients").getByRole("listitem");
    // The texts are not waited for.
    await clients.first().waitFor();
    assert.deepEqual(await clients.allTextContents(), ["claude.ai ready", "ChatGPT 1 problem", "Cursor works with an API key"]);
    const failed = section("What to change").getByRole("listitem");
    assert.deepEqual(await failed.locator("p").allTextContents(), ["People cannot sign in.", "Set AUTH to sign-in.", "Affects ChatGPT"]);
    const useful = section("Optional").getByRole("listitem");
    assert.deepEqual(await useful.locator("p").allTextContents(), ["The authorization server redirects to cursor://…", "Add cursor to SIGN_IN_REDIRECT_SCHEMES.", "Affects Cursor"]);
    const open = section("Cannot be checked here").getByRole("listitem");
    assert.deepEqual(await open.locator("p").allTextContents(), ["The authorization server lets clients register.", "Look at its metadata.", "Affects every client."]);
    assert.deepEqual(await section("Passed").getByRole("listitem").allTextContents(), ["The address is https."]);
    const agents = section("Coding agents with any model");
    // They are there once the page has the list of endpoints, for which the report does not wait.
    await agents.locator("summary").first().waitFor();
    assert.deepEqual(await agents.locator("summary").allTextContents(), ["Codex", "Claude Code", "Cursor", "Continue", "opencode", "aider", "OpenAI Agents SDK", "Vercel AI SDK"]);
    await agents.locator("summary").first().click();
    const lines = await agents.locator("code").allTextContents();
    assert.ok(lines.some((text) => text.includes(`base_url = "${site.worker.address}/v1"`)), "with the address of this server");
    assert.ok(lines.every((text) => !text.includes("tools.example.com")));
    assert.equal(await agents.getByRole("button", { name: "Copy" }).first().isVisible(), true);
    for (const width of [320, 1280]) {
      assert.ok(await visitor.fits(width), `${width} pixels`);
      await isAccessible(page, `${width} pixels`);
    }
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
    await browser.close();
    await site.close();
  }
});
