// What the pages keep while visitors look at something else, and how they recover from requests that fail, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isAccessible, launch } from "./support/chromium.mjs";
import { KEY, model, startGateway } from "./support/gateway/worker.mjs";
import { LOCAL, Visitor } from "./support/site.mjs";

let gateway, browser;
before(async () => {
  [gateway, browser] = await Promise.all([startGateway({ site: true, vars: { SITE: "playground", ALLOWED_ORIGINS: LOCAL } }), launch()]);
});
after(async () => {
  await browser?.close();
  await gateway?.close();
});

/** Runs `use` with a new page, about which the browser must not complain. */
async function visiting(use) {
  const visitor = await Visitor.arrive(browser, gateway.address);
  try {
    await use(visitor, visitor.page);
    assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
  }
}

test("a chat goes on while its visitor looks at the tools, whose form keeps its input", () =>
  visiting(async (visitor, page) => {
    gateway.upstream.openai.script({ text: "Let me add.", calls: [{ name: "Calculator_Add", input: { a: 1, b: 2 } }] }, { text: "It is 3." });
    const choose = (tab) => page.getByRole("tab", { name: tab, exact: true }).click();
    await visitor.visit("/playground");
    await visitor.setKey(KEY);
    await visitor.fill({ a: 17, b: 25 });
    await choose("Chat");
    await page.getByLabel("Model", { exact: true }).fill(model("openai"));
    await page.getByLabel("Message").fill("What is 1 + 2?");
    await page.keyboard.press("Enter");
    const approve = page.getByRole("button", { name: "Run Calculator_Add" });
    await approve.waitFor();
    await choose("Tools");
    assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
    assert.equal(await approve.count(), 0);
    await visitor.run();
    await page.locator(".value").getByText("42", { exact: true }).waitFor();
    await isAccessible(page);
    await choose("Chat");
    await approve.click();
    await page.getByText("It is 3.").waitFor();
  }));

for (const [how, fail] of [
  ["is not there", (route) => route.fulfill({ status: 404, contentType: "application/json", body: "{}" })],
  ["does not arrive", (route) => route.abort()],
]) {
  test(`the search of the documentation recovers when its index ${how}`, () =>
    visiting(async (visitor, page) => {
      // The focus makes the request: it fails when the text is there.
      const typed = Promise.withResolvers();
      await visitor.context.route("**/site/search-*.json", (route) => typed.promise.then(() => fail(route)), { times: 1 });
      await visitor.visit("/docs");
      const search = page.getByLabel("Search the documentation");
      await search.fill("retry_after");
      typed.resolve();
      await page.locator(".results").getByText("The search could not be loaded.").waitFor();
      await search.fill("retry_after ");
      await page.locator(".results a").first().waitFor();
      assert.equal(await page.getByText("could not be loaded").count(), 0);
    }));
}
