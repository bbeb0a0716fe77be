// The page of GET /usage, in Chromium: the visitor's own budgets, and those of all callers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccessible, launch, pictures } from "./support/chromium.mjs";
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
        days: [{ day: day(2), usd: 1.5, tool_calls: 12 }, { day: day(0), usd: 4.75, tool_calls: 3 }],
      },
    ],
    next: "key:ada",
  },
  "?after=key%3Aada": {
    callers: [
      { name: "github:583231", kind: "person", budgets: [{ window: "30d", unit: "requests", limit: 1_000, used: 10, reserved: 0, resets_at: "2026-12-20T00:00:00Z" }], days: [{ day: day(0), usd: 0.25, requests: 10 }] },
      // What both of them have used counts for their team, too.
      { name: "research", kind: "team", budgets: [{ window: "30d", unit: "usd", limit: 50, used: 6.5028, reserved: 0, resets_at: "2026-12-20T00:00:00Z" }], days: [{ day: day(2), usd: 1.5 }, { day: day(0), usd: 5.0028 }] },
    ],
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
      "ada key$5.00 per day $4.75$0.25$0.00Nov 25, 00:00",
      "ada key20 calls of tools per minute 3017Nov 24, 12:01",
      "github:583231 person1,000 chat requests per 30 days 100990Dec 20, 00:00",
      "research team$50.00 per 30 days $6.5028$0.00$43.4972Dec 20, 00:00",
    ]);
    // The kinds are not added: the team's figures contain those of its members.
    const plots = page.locator("#plot").getByRole("img");
    const named = async () => (await plots.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")))).map((name) => name.replace(/ from .*?:/, ":"));
    assert.deepEqual(await named(), [
      "US dollars of Teams: $6.5028 in all, at most $5.0028 on a day",
      "US dollars of People: $0.25 in all, at most $0.25 on a day",
      "US dollars of API keys: $6.25 in all, at most $4.75 on a day",
    ]);
    assert.equal(await plots.first().locator("rect").count(), 31);
    assert.equal(await plots.first().locator('rect[height="120"]').count(), 1);
    await page.getByRole("tab", { name: "Calls of tools" }).click();
    assert.deepEqual(await named(), ["Calls of tools of API keys: 15 in all, at most 12 on a day"]);
    await page.getByText("Calls of tools of Teams, People: not counted.").waitFor();
    await page.getByText("As a table").click();
    assert.equal(await page.getByRole("row", { name: `${day(2)} 12` }).count(), 1);
    // A unit that is counted and was not used is 0.
    assert.equal(await page.getByRole("row", { name: `${day(1)} 0` }).count(), 1);
    for (const width of [320, 1280, 1600]) {
      assert.ok(await visitor.fits(width), `${width} pixels`);
      await isAccessible(page, `${width} pixels`);
      // Each amount is in view, without scrolling to the side.
      const isOutside = ({ right }) => right > width;
      const cells = await rows.locator("td").evaluateAll((all) => all.map((cell) => ({ text: cell.textContent, right: Math.max(...[...cell.children, cell].map((one) => one.getBoundingClientRect().right)) })));
      assert.deepEqual(cells.filter(isOutside), [], `${width} pixels`);
    }
    await pictures(page, "usage");
    await page.getByLabel("Caller", { exact: true }).selectOption("github:583231 (person)");
    await page.getByText("Calls of tools: not counted.").waitFor();
    await page.getByRole("tab", { name: "US dollars" }).click();
    assert.deepEqual(await named(), ["US dollars: $0.25 in all, at most $0.25 on a day"]);
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
    const row = visitor.page.getByRole("row", { name: /^other key 9 calls of tools per 30 days 0 0 9 / });
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
