// The forms of the playground in a browser: every example of the sample tools, and unusual schemas.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAccessible } from "./support/chromium.mjs";
import { CANARY } from "./support/leaks.mjs";
import { definitions, pretend, startSite, useSite } from "./support/site.mjs";
import { FIXTURES } from "./support/worker.mjs";

const { visiting } = useSite();

const exact = (value) => JSON.stringify(value);

// Values of other services and of a clock differ from the example.
const VARIES = /^Weather\./;

/** Calls a tool with an example through its form, and checks what the page shows. */
async function example(visitor, { id, requirements }, { input, value, error }) {
  await visitor.open(id);
  await visitor.fill(input);
  for (const { id: provider } of requirements?.authorization ?? []) await visitor.page.getByLabel(`Access token for ${provider}`).fill(`${CANARY}-token`);
  const [request] = await Promise.all([visitor.page.waitForRequest((request) => request.method() === "POST"), visitor.run()]);
  const body = request.postData();
  assert.deepEqual(JSON.parse(body, raw).input, JSON.parse(exact(input), raw), "the form sends the example's input");
  if (error) {
    await visitor.page.locator(".failure").getByText(error.message).waitFor();
  } else {
    await visitor.page.locator(".value").waitFor();
    const reply = await (await request.response()).text();
    if (!VARIES.test(id)) assert.deepEqual(JSON.parse(reply, raw).value, JSON.parse(exact(value), raw));
  }
}

/** A reviver that keeps the digits of large integers. */
const raw = (_, value, { source } = {}) => (typeof value === "number" ? `number ${Number(source)} ${/[.e]/.test(source) ? "" : source}` : value);

for (const definition of definitions("tests/samples")) {
  for (const [at, one] of definition.examples.entries()) {
    test(`${definition.id}: example ${at + 1} through the form`, () => visiting((visitor) => example(visitor, definition, one)));
  }
}

test("nested objects, lists, unions, constants and choices through the form", async () => {
  const fixtures = await startSite({ bundle: FIXTURES });
  try {
    for (const definition of definitions("tests/fixtures")) {
      if (!["Fixture.Varied@1.0.0", "Fixture.Choice@1.0.0", "Fixture.Awkward@1.0.0"].includes(definition.id)) continue;
      for (const one of definition.examples) {
        await visiting((visitor) => example(visitor, definition, one), { address: fixtures.worker.address });
      }
    }
  } finally {
    await fixtures.close();
  }
});

test("title and scopes come from the OpenAPI document, and its examples fill the form", () =>
  visiting(async (visitor, page) => {
    await visitor.open("GitHub.CreateIssue@1.0.0");
    await page.getByRole("heading", { name: "Create an issue" }).waitFor();
    await page.locator(".badge").getByText("github:write").waitFor();
    await visitor.open("Calculator.Add@1.0.0");
    // An example that ends in an error says so.
    await page.getByRole("button", { name: "A sum that is too large error" }).click();
    await visitor.run();
    await page.locator(".failure").getByText("The sum is too large for a number").waitFor();
    await page.getByRole("button", { name: "Integers stay integers", exact: true }).click();
    assert.equal(await page.getByLabel("a", { exact: true }).inputValue(), "10");
    await visitor.run();
    await page.locator(".value").getByText("15", { exact: true }).waitFor();
  }));

test("text that is no JSON does not run", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await page.getByRole("tab", { name: "JSON" }).click();
    const text = page.getByLabel("Input as JSON");
    await text.fill('{"a": 1, "b": 2}');
    const code = page.locator("#call-panel pre");
    assert.equal(await page.locator(".outdated").textContent(), "");
    await text.fill('{"a": 100, "b": 200');
    await page.getByRole("status").getByText("The JSON is invalid").waitFor();
    assert.equal(await code.getAttribute("aria-label"), "outdated call in curl");
    assert.match(await code.textContent(), /"a": ?1\b/);
    const before = visitor.requests.length;
    await visitor.run();
    await page.locator("#input-error").waitFor();
    assert.ok(await text.evaluate((element) => element === document.activeElement));
    assert.equal(visitor.requests.length, before);
    assert.equal(await page.locator(".verdict").count(), 0);
    await text.fill('{"a": 100, "b": 200}');
    assert.equal(await page.locator(".outdated").textContent(), "");
    assert.match(await code.textContent(), /"a": ?100\b/);
    await visitor.run();
    await page.locator(".value").getByText("300", { exact: true }).waitFor();
    // A text that is no JSON stays until it is corrected or discarded.
    await text.fill('{"a": 7,');
    await page.getByText("Line 1, column 9: expected a name in double quotes, found the end of the text").waitFor();
    assert.equal(await page.getByRole("button", { name: "Discard the text" }).count(), 0);
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByRole("button", { name: "Discard the text" }).waitFor();
    assert.equal(await text.inputValue(), '{"a": 7,');
    assert.ok(await text.evaluate((element) => element === document.activeElement));
    await isAccessible(page);
    await text.fill('{"a": 7, "b": 200}');
    assert.equal(await page.getByRole("button", { name: "Discard the text" }).count(), 0);
    await page.getByRole("tab", { name: "Form" }).click();
    assert.equal(await page.getByLabel("a", { exact: true }).inputValue(), "7");
    await page.getByRole("tab", { name: "JSON" }).click();
    await text.fill('{"a": 100, "b": 200}');
    await text.fill("{");
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByRole("button", { name: "Discard the text" }).click();
    assert.equal(await page.getByLabel("a", { exact: true }).inputValue(), "100");
    await visitor.run();
    await page.locator(".value").getByText("300", { exact: true }).waitFor();
    assert.equal(visitor.requests.length, before + 2);
  }));

test("parameters may have names that every object has", () =>
  visiting(async (visitor, page) => {
    const names = ["__proto__", "constructor", "toString"];
    const schema = JSON.parse(`{"type":"object","properties":{${names.map((name) => `"${name}":{"type":"string"}`)}}}`);
    const inputs = await pretend(visitor, schema);
    await visitor.open("Test.Tool@1.0.0");
    for (const name of names) {
      const field = page.locator(`[data-path=${name}]`);
      assert.deepEqual([await field.inputValue(), await field.getAttribute("aria-invalid")], ["", null]);
      await field.fill("x");
    }
    await visitor.run();
    await page.locator(".verdict").waitFor();
    assert.deepEqual(inputs, ['{"__proto__":"x","constructor":"x","toString":"x"}']);
  }));

test("texts that run from right to left end on the left, in fields and in values", () =>
  visiting(async (visitor, page) => {
    const text = "שלום!";
    await pretend(visitor, { type: "object", properties: { text: { type: "string" } } }, { greeting: text, all: [{ text }] });
    await visitor.open("Test.Tool@1.0.0");
    await page.locator("[data-path=text]").fill(text);
    await visitor.run();
    await page.locator(".value td").waitFor();
    // Where the first and the last character are.
    const ends = await page.locator(".value").getByText(text).evaluateAll((elements) => elements.map(({ firstChild }) =>
      [0, firstChild.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(firstChild, at);
        range.setEnd(firstChild, at + 1);
        return range.getBoundingClientRect().left;
      })));
    assert.equal(ends.length, 2);
    for (const [first, last] of ends) assert.ok(last < first, `${last} < ${first}`);
    assert.equal(await page.locator("[data-path=text]").evaluate((field) => getComputedStyle(field).unicodeBidi), "plaintext");
  }));

test("a long name fits, as a field and in a value", () =>
  visiting(async (visitor, page) => {
    const name = "parameter".repeat(30);
    await pretend(visitor, { type: "object", properties: { [name]: { type: "string", description: name }, other: { type: "array", title: name, items: { type: "string" } } } }, { [name]: name, all: [{ [name]: name }] });
    await visitor.open("Test.Tool@1.0.0");
    await visitor.run();
    await page.locator(".value").waitFor();
    for (const width of [320, 1280]) assert.ok(await visitor.fits(width), `${width} pixels`);
  }));

test("the input of a tool whose schema is no object is text", () =>
  visiting(async (visitor, page) => {
    const inputs = await pretend(visitor, { anyOf: [{ type: "object", properties: { a: {} } }, { type: "null" }] });
    await visitor.open("Test.Tool@1.0.0");
    await page.getByLabel("Input as JSON").fill("{");
    await visitor.run();
    await page.locator("#input-error").waitFor();
    assert.deepEqual(inputs, []);
    await page.getByLabel("Input as JSON").fill('{"a": 1}');
    await visitor.run();
    await page.locator(".verdict").waitFor();
    assert.deepEqual(inputs, ['{"a":1}']);
  }));

test("invalid input is shown at its field, which gets the focus", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 10, b: "infinity" });
    await visitor.run();
    const field = page.getByLabel("b", { exact: true });
    await page.locator("#field-b[aria-invalid=true]").waitFor();
    assert.equal(await field.evaluate((element) => document.getElementById(element.getAttribute("aria-describedby").split(" ").at(-1)).textContent), "Must be a number.");
    await page.locator("#field-b:focus").waitFor();
    assert.equal(await page.locator("#field-a[aria-invalid]").count(), 0);
    await field.fill("5");
    await visitor.run();
    await page.locator(".value").getByText("15", { exact: true }).waitFor();
    assert.equal(await page.locator("[aria-invalid]").count(), 0);
  }));

test("an item of a list that is removed takes its text along, and no other", () =>
  visiting(async (visitor, page) => {
    const inputs = await pretend(visitor, { type: "object", properties: { list: { type: "array", items: {} } }, required: ["list"] });
    await visitor.open("Test.Tool@1.0.0");
    for (const [index, text] of ['{"a": 1}', "[2]", "3"].entries()) {
      await page.locator("[data-add=list]").click();
      await page.locator(`[data-path="list[${index}]"]`).fill(text);
    }
    await page.getByRole("button", { name: "Remove list 1" }).click();
    const texts = () => page.locator("textarea").evaluateAll((all) => all.map(({ value }) => value));
    assert.deepEqual(await texts(), ["[2]", "3"]);
    await visitor.run();
    await page.locator(".verdict").waitFor();
    assert.deepEqual(inputs, ['{"list":[[2],3]}']);
  }));

test("the focus stays where a part of the form was added or removed", () =>
  visiting(async (visitor, page) => {
    const item = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const properties = { list: { type: "array", items: item, maxItems: 3 }, box: item };
    await pretend(visitor, { type: "object", properties, additionalProperties: item });
    await visitor.open("Test.Tool@1.0.0");
    const focused = () => page.evaluate(() => [document.activeElement.tagName, document.activeElement.getAttribute("aria-label") ?? (document.activeElement.id || document.activeElement.textContent)]);
    for (const [name, expected] of [
      ["Add box", ["INPUT", "field-box.name"]],
      ["Remove box", ["BUTTON", "field-box"]],
      ["Add list", ["BUTTON", "Add an item"]],
      ["Add an item", ["INPUT", "field-list[0].name"]],
      ["Add another item", ["INPUT", "field-list[1].name"]],
      ["Add another item", ["INPUT", "field-list[2].name"]],
      ["Remove list 2", ["BUTTON", "Remove list 2"]],
      ["Remove list 2", ["BUTTON", "Add another item"]],
      ["Remove list 1", ["BUTTON", "Add an item"]],
      ["Remove list", ["BUTTON", "field-list"]],
    ]) {
      await page.getByRole("button", { name, exact: true }).press("Enter");
      assert.deepEqual(await focused(), expected, name);
    }
    await page.getByLabel("Name of the new property").fill("more");
    await page.getByRole("button", { name: "Add", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Remove more", exact: true }).press("Enter");
    assert.deepEqual(await focused(), ["INPUT", "field--new"]);
  }));

test("an error of a group of fields is shown, and the group gets the focus", () =>
  visiting(async (visitor, page) => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: "string" }]));
    const list = { type: "array", items: { type: "string" } };
    const either = { oneOf: [{ type: "object", properties: { a: { type: "string" } } }, list] };
    const schema = { type: "object", properties: { list, either, box: { type: "object", properties: { inner: { type: "string" } } }, ...properties }, required: ["list", "either"] };
    await pretend(visitor, schema);
    let wrong;
    await visitor.context.route("**/oxp/tools/call", (route) => route.fulfill({ status: 422, contentType: "application/json", body: JSON.stringify({ message: "Invalid", parameter_errors: { [wrong]: "Must be something else" } }) }));
    await visitor.open("Test.Tool@1.0.0");
    for (const [path, id] of [["list", "field-list-group"], ["either", "field-either-group"], ["box", "field-box"], ["p3", "field-p3"]]) {
      wrong = path;
      await visitor.run();
      await page.locator(`[id="field-${path}-error"]`).waitFor();
      await page.locator(`[id="${id}"]:focus`).waitFor();
      // Once the page has scrolled.
      await page.waitForFunction((id) => {
        const { top, bottom } = document.getElementById(id).getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      }, `field-${path}-error`);
      const described = await page.locator(":focus").getAttribute("aria-describedby");
      if (path !== "either") assert.match(described ?? "", new RegExp(`field-${path}-error`), path);
    }
  }));
