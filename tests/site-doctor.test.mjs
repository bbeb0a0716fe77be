// The page of GET /doctor, in Chromium, with a report that has everything.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch } from "./support/chromium.mjs";
import { Visitor, startSite } from "./support/site.mjs";

const REPORT = {
  url: "https://tools.example.com/mcp",
  connectors: [
    { id: "claude", title: "claude.ai", ok: true, missing: [] },
    { id: "cursor", title: "Cursor", ok: false, missing: ["redirect-scheme"] },
  ],
  checks: [
    { id: "https", ok: true, meaning: "The address is https.", connectors: ["claude", "cursor"] },
    { id: "registration", ok: null, meaning: "The authorization server lets clients register.", fix: "Look at its metadata.", connectors: ["claude"] },
    { id: "redirect-scheme", ok: false, meaning: "The authorization server redirects to cursor://…", fix: "Add cursor to SIGN_IN_REDIRECT_SCHEMES.", connectors: ["cursor"] },
  ],
};

test("the report is shown for each client, with the fix", async () => {
  const [site, browser] = await Promise.all([startSite(), launch()]);
  const visitor = await Visitor.arrive(browser, site.worker.address);
  const { page } = visitor;
  try {
    await visitor.context.route("**/doctor", (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.fulfill({ contentType: "application/json", body: JSON.stringify(REPORT) }),
    );
    await visitor.visit("/doctor");
    const cursor = page.getByRole("listitem").filter({ hasText: "Cursor" });
    await cursor.getByText("1 problem").waitFor();
    await cursor.getByText("Add cursor to SIGN_IN_REDIRECT_SCHEMES.").waitFor();
    const claude = page.getByRole("listitem").filter({ hasText: "claude.ai" });
    await claude.getByText("ready").waitFor();
    await claude.getByText("Cannot be checked here").waitFor();
    await page.getByText("The address is https.").waitFor();
    for (const width of [320, 1280]) {
      assert.ok(await visitor.fits(width), `${width} pixels`);
      assert.deepEqual(await visitor.violations(), [], `${width} pixels`);
    }
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
    await browser.close();
    await site.close();
  }
});
