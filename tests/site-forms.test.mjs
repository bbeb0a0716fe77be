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
