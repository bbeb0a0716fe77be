// The form of a tool and its result in a browser: what is in view, where the keyboard is, and what is shown before and after a call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccessible, pictures } from "./support/chromium.mjs";
import { KEY, pretend, useSite } from "./support/site.mjs";

const { visiting } = useSite();

const LONG = { type: "object", properties: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field_${index}`, { type: "string", description: "A field of a long form." }])) };

test("Run is in view below a long form, and so is the result, each time", () =>
  visiting(async (visitor, page) => {
    await pretend(visitor, LONG, { text: "x ".repeat(4000) });
    for (const size of [{ width: 1280, height: 900 }, { width: 320, height: 700 }]) {
      await page.setViewportSize(size);
      await visitor.visit("/playground");
      const run = page.getByRole("button", { name: "Run", exact: true });
      await run.waitFor();
      const { top, bottom } = await run.evaluate((element) => element.getBoundingClientRect().toJSON());
      assert.ok(top > 0 && bottom <= size.height, `${size.width} pixels: Run is at ${top}`);
      // What has the focus is above the button.
      await page.locator("#field-field_20").focus();
      await page.waitForFunction(() => document.activeElement.getBoundingClientRect().bottom <= document.querySelector(".run button").getBoundingClientRect().top);
      for (let times = 0; times < 3; times += 1) {
        await page.locator("#field-field_29").focus();
        await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: "instant" }));
        await page.getByRole("button", { name: "Run", exact: true }).click();
        await page.locator(".verdict").waitFor();
        // The page may scroll smoothly.
        await page.waitForFunction((height) => { const { top } = document.querySelector("#result-title").getBoundingClientRect(); return top >= 0 && top < height * 0.75; }, size.height);
      }
    }
    await isAccessible(page);
  }));

test("the view of a result is as large as its page, each time, from the end of a long form", () =>
  visiting(async (visitor, page) => {
    await page.setViewportSize({ width: 1280, height: 500 });
    await visitor.open("Weather.Forecast@1.0.0");
    await visitor.fill({ city: "Berlin", days: 3 });
    for (let times = 0; times < 10; times += 1) {
      await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: "instant" }));
      await visitor.run();
      const frame = page.locator(".view iframe");
      await frame.waitFor();
      await page.waitForFunction(() => Number(document.querySelector(".view iframe")?.getAttribute("height")) > 200);
      await page.waitForFunction(() => document.querySelector("#result-title").getBoundingClientRect().top >= 0);
    }
  }));

test("who chooses a tool from the list is in its form", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Text.Slugify@1.0.0");
    const focused = () => page.evaluate(() => [document.activeElement.closest("form")?.getAttribute("aria-label"), document.activeElement.id]);
    await page.locator(".tool-list").getByRole("link", { name: /^Add/ }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".tool-id code", { hasText: "Calculator.Add" }).waitFor();
    await page.waitForFunction(() => document.activeElement.id === "field-a");
    assert.match((await focused())[0], /^Input of Add/);
    // The address alone moves no focus, and neither does the menu of narrow screens, where arrow keys choose.
    await page.setViewportSize({ width: 320, height: 700 });
    await page.locator("#tool-menu").focus();
    await page.locator("#tool-menu").selectOption({ index: 3 });
    await page.waitForFunction(() => !document.querySelector(".tool-id").textContent.includes("Calculator.Add"));
    assert.deepEqual((await focused())[1], "tool-menu");
  }));

test("the versions of a tool are one row, and its form leads to the others", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Text.Slugify@1.0.0");
    const list = page.locator(".tool-list .column");
    const rows = list.locator('a[href*="Slugify"]');
    assert.equal(await rows.count(), 1);
    assert.equal(await rows.getAttribute("aria-current"), "page");
    assert.equal(await list.getByText(/^\d+\.\d+\.\d+$/).count(), 0);
    const versions = page.locator(".versions");
    assert.equal(await versions.locator("strong").textContent(), "1.0.0");
    await versions.getByRole("link").first().click();
    await page.waitForFunction(() => !document.querySelector(".tool-id").textContent.includes("@1.0.0"));
    await pictures(page, "versions");
  }));

test("what a tool returns is shown before the call, and the last requests after it, without credentials", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Weather.Forecast@1.0.0");
    const returns = await page.getByLabel("The value's schema").textContent();
    assert.match(returns, /^\{\n {2}city: string/);
    assert.match(returns, /days: \{\n {4}conditions: string {2}\/\/ The conditions in words\.\n/);
    await visitor.fill({ city: "Berlin", days: 2 });
    await visitor.run();
    await page.locator(".value").first().waitFor();
    assert.equal(await page.getByLabel("The value's schema").count(), 0);
    const requests = page.getByRole("region", { name: "Last requests" }).locator("details");
    assert.equal(await requests.count(), 1);
    await requests.locator("summary").click();
    const [request, response] = await requests.locator("pre").allTextContents();
    assert.match(request, /^POST \/oxp\/tools\/call\naccept: application\/json\nauthorization: Bearer …\ncontent-type: application\/json\n\n\{\n/);
    assert.match(response, /^200\n[^]*content-type: application\/json[^]*\n\n\{.*"success":true/);
    assert.ok(!`${request}${response}`.includes(KEY));
    await visitor.run();
    await page.getByText("Last requests").waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".requests details").length === 2);
    await isAccessible(page);
    await pictures(page, "requests");
    // Those of another caller are gone.
    await visitor.setKey();
    await page.waitForFunction(() => document.querySelectorAll(".requests details").length === 0);
  }));

test("short lists of numbers are one line, also in a table", () =>
  visiting(async (visitor, page) => {
    await pretend(visitor, { type: "object" }, { temperatures: [1, 2.5, -3], none: [], days: [{ day: "Mon", range: [1, 9] }, { day: "Tue", range: [2, 8] }] });
    await visitor.visit("/playground");
    await visitor.run();
    const value = page.locator(".value");
    await value.getByText("[1, 2.5, -3]").waitFor();
    await value.getByText("[]", { exact: true }).waitFor();
    assert.equal(await value.getByRole("cell", { name: "[2, 8]" }).count(), 1);
    assert.equal(await value.locator("pre").count(), 0);
    await isAccessible(page);
  }));

test("a call that this page does not send says why in the result, too", () =>
  visiting(async (visitor, page) => {
    await visitor.open("GitHub.ListIssues@1.0.0");
    await visitor.run();
    await page.locator(".result").getByText("The tool was not run. Enter a value for owner, repository.").waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByLabel("Input as JSON").fill("{");
    await visitor.run();
    await page.locator(".result").getByText("The tool was not run. The input is not valid JSON.").waitFor();
    await isAccessible(page);
  }));

for (const [title, error, texts] of [
  ["is said once", { message: "The service responded with status 404", developer_message: 'The service responded with status 404. {"message":"Not Found"}', additional_prompt_content: '{"message":"Not Found"}' }, ["The service responded with status 404", 'Hint for the model: {"message":"Not Found"}']],
  ["repeats nothing", { message: "No such city", developer_message: "No such city.", additional_prompt_content: "No such city" }, ["No such city"]],
  ["has what only the log says", { message: "No such city", developer_message: "No such city. It returned 404." }, ["No such city", "For the log: It returned 404."]],
]) {
  test(`an error ${title}`, () =>
    visiting(async (visitor, page) => {
      await visitor.context.route("**/oxp/tools/call", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify({ success: false, error: { can_retry: false, ...error } }) }));
      await visitor.open("Weather.Current@1.0.0");
      await visitor.run();
      await page.locator(".failure").waitFor();
      assert.deepEqual(await page.locator(".failure p").allTextContents(), texts);
    }));
}
