// The page of GET /usage, in Chromium: the visitor's own budgets, and those of all callers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccessible, launch } from "./support/chromium.mjs";
import { KEY, Visitor, startSite } from "./support/site.mjs";
import { entryOf } from "../packages/toolbooth/src/credentials.js";

const DAY = 86_400_000;
const day = (ago) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);
const PAGES = {
  "": {
    callers: [
      {
        name: "ada",
        kind: "key",
        budgets: [
          { window: "1d", unit: "usd", limit: 5, used: 4.75, reserved: 0.25, resets_at: "2026-11-25T00:00:00Z" },
          { window: "1m", unit: "tool_calls", limit: 20, used: 3, reserved: 0, resets_at: "2026-11-24T12:01:00Z" },
        ],
        days: [{ day: day(2), usd: 1.5, requests: 0, tool_calls: 12 }, { day: day(0), usd: 4.75, requests: 0, tool_calls: 3 }],
      },
    ],
    next: "key:ada",
  },
  "?after=key%3Aada": {
    callers: [{ name: "github:583231", kind: "person", budgets: [{ window: "30d", unit: "requests", limit: 1_000, used: 10, reserved: 0, resets_at: "2026-12-20T00:00:00Z" }], days: [{ day: day(0), usd: 0.25, requests: 10, tool_calls: 0 }] }],
  },
};

test("the figures of all callers: a table, and a plot over days", async () => {
  const [site, browser] = await Promise.all([startSite(), launch()]);
  const visitor = await Visitor.arrive(browser, site.worker.address);
  const { page } = visitor;
  try {
    await visitor.context.route(({ pathname }) => pathname === "/usage", (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.fulfill({ contentType: "application/json", body: JSON.stringify(PAGES[new URL(route.request().url()).search]) }),
    );
    await visitor.visit("/usage");
    const budgets = page.locator("section", { has: page.getByRole("heading", { name: "Budgets" }) });
    const rows = budgets.locator("tbody tr");
    await rows.nth(2).waitFor();
    const texts = async () => (await rows.allTextContents()).map((text) => text.replaceAll(/\s+/g, " "));
    assert.deepEqual(await texts(), [
      "ada$5.00 per day $4.75$0.25$0.00Nov 25, 00:00",
      "ada20 calls of tools per minute 3017Nov 24, 12:01",
      "github:5832311,000 chat requests per 30 days 100990Dec 20, 00:00",
    ]);
    const plot = page.getByRole("img", { name: /^US dollars from .*: \$6.50 in all, at most \$5.00 on a day$/ });
    await plot.waitFor();
    assert.equal(await plot.locator("rect").count(), 31);
    assert.equal(await plot.locator('rect[height="120"]').count(), 1);
    await page.getByRole("tab", { name: "Calls of tools" }).click();
    await page.getByRole("img", { name: /^Calls of tools from .*: 15 in all, at most 12 on a day$/ }).waitFor();
    await page.getByText("As a table").click();
    assert.equal(await page.getByRole("row", { name: `${day(2)} 12` }).count(), 1);
    await page.getByLabel("Caller", { exact: true }).selectOption("github:583231 (person)");
    await page.getByRole("img", { name: /^US dollars from .*: \$0.25 in all/ }).waitFor();
    assert.equal((await texts()).length, 1);
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

test("what the server itself says: that credentials are needed, and then all budgets", async () => {
  const other = "canary-key-of-another-caller";
  const API_KEYS = JSON.stringify([entryOf(KEY, "visitor", ["*"]), { ...entryOf(other, "other", []), budgets: [{ window: "30d", tool_calls: 9 }] }]);
  const [site, browser] = await Promise.all([startSite({ vars: { API_KEYS } }), launch()]);
  const visitor = await Visitor.arrive(browser, site.worker.address);
  try {
    await visitor.visit("/usage");
    await visitor.page.getByText("This server needs credentials.").waitFor();
    await visitor.setKey();
    // With all scopes, the visitor sees the other caller.
    const row = visitor.page.getByRole("row", { name: /^other 9 calls of tools per 30 days 0 0 9 / });
    await row.waitFor();
    assert.equal(await visitor.page.getByRole("img").count(), 0);
    await isAccessible(visitor.page, "without a plot");
    await visitor.context.route(({ pathname }) => pathname === "/usage", (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.fulfill({ status: 429, contentType: "application/json", body: "{}" }),
    );
    await visitor.visit("/usage");
    await visitor.page.getByText("Too many requests.").waitFor();
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
    await browser.close();
    await site.close();
  }
});
