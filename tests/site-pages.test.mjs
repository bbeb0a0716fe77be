// The pages of the site in Chromium, served by the real Worker.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { isAccessible, launch } from "./support/chromium.mjs";
import { root } from "./support/commands.mjs";
import { front } from "./support/front.mjs";
import { model, startGateway } from "./support/gateway/worker.mjs";
import { github } from "./support/github.mjs";
import { CANARY } from "./support/leaks.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { KEY, LOCAL, Visitor, definitions, startSite } from "./support/site.mjs";
import { BOOTH as SAMPLES, FIXTURES } from "./support/worker.mjs";

/** What the Worker logs about the examples with a repository that does not exist. */
const NOT_FOUND = '{"event":"github","status":"404"}';

let site, browser;
before(async () => {
  [site, browser] = await Promise.all([startSite(), launch()]);
});
after(async () => {
  await browser?.close();
  const logs = (await site?.worker.logs()) ?? [];
  await site?.close();
  // What the pages ask for by themselves, such as the models of a gateway that is not there, is no error either.
  assert.deepEqual(logs.filter(({ message }) => message !== NOT_FOUND), []);
});

/** Runs `use` with a new page, about which the browser must not complain. */
async function visiting(use, { address = site.worker.address, ...options } = {}) {
  const visitor = await Visitor.arrive(browser, address, options);
  try {
    await use(visitor, visitor.page);
    // Without scripts, the page cannot be asked.
    if (options.scripts !== false) assert.deepEqual(await visitor.problems(), []);
  } finally {
    await visitor.close();
  }
}

// How to get to each state of a page that people see.
const STATES = {
  "/": async (visitor) => {
    await visitor.visit("/");
    await visitor.setKey();
    await visitor.page.locator("#tool-list").getByText("Calculator.Add@1.0.0").waitFor();
  },
  "/, closed": async (visitor) => {
    await visitor.visit("/");
    await visitor.page.getByText("needs credentials").waitFor();
  },
  "/docs": (visitor) => visitor.visit("/docs"),
  "/docs/clients": (visitor) => visitor.visit("/docs/clients"),
  "/docs/gateway": (visitor) => visitor.visit("/docs/gateway"),
  "/docs/protocols/oxp-10": (visitor) => visitor.visit("/docs/protocols/oxp-10"),
  "/signed-in": async (visitor) => {
    await visitor.visit("/signed-in");
    // This window was not opened by a script, so the page may not close it.
    await visitor.page.getByRole("heading", { name: "Please return" }).waitFor();
    await visitor.problems();
  },
  "/docs, search": async (visitor) => {
    await visitor.visit("/docs/security");
    await visitor.page.getByLabel("Search the documentation").fill("allowlist");
    await visitor.page.getByRole("link", { name: /TOOL_ALLOWLIST|Configuration/ }).first().waitFor();
  },
  "/playground, closed": async (visitor) => {
    await visitor.visit("/playground");
    await visitor.page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
  },
  "/playground, value": async (visitor) => {
    await visitor.open("Weather.Forecast@1.0.0");
    await visitor.fill({ city: "Berlin", days: 2 });
    await visitor.run();
    await visitor.page.locator(".value").waitFor();
  },
  "/playground, error": async (visitor) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 10, b: "infinity" });
    await visitor.run();
    await visitor.page.locator("[aria-invalid]").waitFor();
  },
  "/playground, requirements": (visitor) => visitor.open("GitHub.CreateIssue@1.0.0"),
  "/playground, key": async (visitor) => {
    await visitor.visit("/playground");
    await visitor.page.getByRole("button", { name: "Set key" }).click();
  },
};

for (const [name, reach] of Object.entries(STATES)) {
  test(`${name}: accessible, light and dark, and at any width`, () =>
    visiting(async (visitor, page) => {
      await reach(visitor);
      for (const width of [320, 768, 1280, 1920]) assert.ok(await visitor.fits(width), `it scrolls sideways at ${width} pixels`);
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await isAccessible(page, `${width} pixels`);
      }
    }));
}

const exact = (value) => JSON.stringify(value);
// Values of other services and of a clock differ from the example.
const VARIES = /^Weather\./;

/** Calls a tool with an example through its form, and checks what the page shows. */
async function example(visitor, { id, requirements }, { input, value, error }) {
  await visitor.open(id);
  await visitor.fill(input);
  for (const { id: provider } of requirements?.authorization ?? []) await visitor.page.getByLabel(`Token for ${provider}`).fill(`${CANARY}-token`);
  const sent = visitor.page.waitForRequest((request) => request.method() === "POST");
  await visitor.run();
  const request = await sent;
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

test("content blocks appear as text, images, audio and documents", async () => {
  const blocks = await startSite({ bundle: "target/mcp" });
  try {
    await visiting(
      async (visitor, page) => {
        await visitor.open("test.multiple_content_types@1.0.0");
        await visitor.run();
        const value = page.locator(".value");
        await value.getByText("Multiple content types test:").waitFor();
        assert.equal(await value.getByRole("img").evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
        // A document of JSON is shown like a value.
        const document = value.getByRole("article");
        await document.getByText("mixed-content-resource").waitFor();
        assert.equal(await document.getByText("123", { exact: true }).evaluate((element) => element.tagName), "DD");
        await isAccessible(page);
        await visitor.open("test.audio_content@1.0.0");
        await visitor.run();
        await value.locator("audio").waitFor();
        assert.ok((await value.locator("audio").evaluate((audio) => audio.duration || new Promise((resolve) => (audio.onloadedmetadata = () => resolve(audio.duration))))) > 0);
      },
      { address: blocks.worker.address },
    );
  } finally {
    await blocks.close();
  }
});

test("title and scopes come from the OpenAPI document, and its examples fill the form", () =>
  visiting(async (visitor, page) => {
    await visitor.open("GitHub.CreateIssue@1.0.0");
    await page.getByRole("heading", { name: "Create an issue" }).waitFor();
    await page.locator(".badge").getByText("github:write").waitFor();
    await visitor.open("Calculator.Add@1.0.0");
    await page.getByRole("button", { name: "Integers stay integers" }).click();
    assert.equal(await page.getByLabel("a", { exact: true }).inputValue(), "10");
    await visitor.run();
    await page.locator(".value").getByText("15", { exact: true }).waitFor();
  }));

test("another key replaces one that the server rejects", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground");
    await visitor.setKey(`${KEY}-wrong`);
    await page.getByRole("heading", { name: "The server does not accept this key" }).waitFor();
    await visitor.setKey();
    await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
    await visitor.visit("/");
    await visitor.setKey(`${KEY}-wrong`);
    await page.getByText("The server does not accept this key.").waitFor();
    await visitor.setKey();
    await page.locator("#tool-list").getByText("Calculator.Add@1.0.0").waitFor();
  }));

test("an address that cannot be decoded names no tool", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground#%");
    await visitor.setKey();
    await page.locator(".tool-id").waitFor();
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
    // The other tab shows the last input that was JSON, and runs it.
    await text.fill("{");
    await page.getByRole("tab", { name: "Form" }).click();
    assert.equal(await page.getByLabel("a", { exact: true }).inputValue(), "100");
    await visitor.run();
    await page.locator(".value").getByText("300", { exact: true }).waitFor();
    assert.equal(visitor.requests.length, before + 2);
  }));

/** Replaces the list of tools by one tool with this schema, and the result of its calls. Returns the inputs of the calls. */
async function pretend(visitor, input_schema, value = null) {
  const inputs = [];
  const tool = { id: "Test.Tool@1.0.0", name: "Test_Tool", description: "A tool.", version: "1.0.0", input_schema };
  const json = (route, body) => route.fulfill({ contentType: "application/json", body: JSON.stringify(body) });
  await visitor.context.route("**/tools", (route) => json(route, { items: [tool] }));
  await visitor.context.route("**/oxp/tools/call", (route) => {
    inputs.push(JSON.stringify(JSON.parse(route.request().postData()).input));
    return json(route, { success: true, value });
  });
  return inputs;
}

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

test("the hint for the model and the text for the log are shown", () =>
  visiting(async (visitor, page) => {
    const error = { message: "Unknown city", developer_message: "It returned 404.", additional_prompt_content: "Use an English name.", can_retry: true };
    await visitor.context.route("**/oxp/tools/call", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify({ success: false, error }) }));
    await visitor.open("Weather.Current@1.0.0");
    await visitor.run();
    const texts = await page.locator(".failure p").allTextContents();
    assert.deepEqual(texts, ["Unknown city", "Hint for the model: Use an English name.", "For the log: It returned 404."]);
  }));

test("a result that arrives after the protocol has changed is not shown", () =>
  visiting(async (visitor, page) => {
    const { promise, resolve } = Promise.withResolvers();
    await visitor.context.route("**/oxp/tools/call", async (route) => {
      await promise;
      await route.continue();
    });
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 1, b: 2 });
    const arrived = page.waitForResponse("**/oxp/tools/call");
    await visitor.run();
    await page.getByLabel("over").selectOption("mcp");
    resolve();
    await (await arrived).finished();
    await page.getByText("Run the tool to see its value here.").waitFor();
    await visitor.run();
    await page.locator(".value").getByText("3", { exact: true }).waitFor();
  }));

test("the keyboard stays where it is: while a tool runs, and when a key is used", () =>
  visiting(async (visitor, page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await visitor.visit("/playground");
    await page.getByRole("button", { name: "Enter a key" }).click();
    await page.keyboard.type(KEY);
    await page.keyboard.press("Enter");
    await page.locator(".tool-id").waitFor();
    assert.equal(await focused(), "Key set");
    const { promise, resolve } = Promise.withResolvers();
    await visitor.context.route("**/oxp/tools/call", async (route) => {
      await promise;
      await route.continue();
    });
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 1, b: 2 });
    await page.getByRole("button", { name: "Run", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Running…" }).press("Enter");
    assert.equal(await focused(), "Running…");
    resolve();
    await page.locator(".value").waitFor();
    assert.equal(await focused(), "Run");
    assert.equal(visitor.requests.filter((request) => request.url().endsWith("/oxp/tools/call")).length, 1);
  }));

test("after the server was unreachable, the page tries again", () =>
  visiting(async (visitor, page) => {
    await visitor.context.route("**/tools", (route) => route.abort());
    for (const path of ["/", "/playground"]) {
      await visitor.context.route("**/tools", (route) => route.abort());
      await visitor.visit(path);
      await page.getByRole("alert").getByText("The server did not respond.").waitFor();
      await isAccessible(page);
      await visitor.context.unroute("**/tools");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("needs credentials").waitFor();
    }
  }));

test("a search that could not be loaded is loaded again", () =>
  visiting(async (visitor, page) => {
    await visitor.context.route("**/search-*.json", (route) => route.abort());
    await visitor.visit("/docs");
    const search = page.getByLabel("Search the documentation");
    await search.fill("retry");
    await page.locator(".results").getByText("The search could not be loaded.").waitFor();
    await visitor.context.unroute("**/search-*.json");
    await search.fill("retry_after");
    await page.locator(".results a").first().waitFor();
  }));

test("without a clipboard, the button selects the code", () =>
  visiting(async (visitor, page) => {
    await visitor.context.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await visitor.visit("/");
    await page.locator(".hero").getByRole("button", { name: "Copy" }).click();
    await page.getByRole("status").getByText("Selected").waitFor();
    assert.equal(await page.evaluate(() => String(getSelection())), `${site.worker.address}/mcp`);
  }));

test("values of any length, and empty ones", () =>
  visiting(async (visitor, page) => {
    const value = { long: "x".repeat(3000), short: "yes", empty: "", link: `https://example.com/${"a".repeat(300)}` };
    await pretend(visitor, { type: "object" }, value);
    await visitor.visit("/playground");
    await page.locator(".tool-id").waitFor();
    await visitor.run();
    await page.getByText("empty", { exact: true }).last().waitFor();
    for (const width of [320, 1280]) assert.ok(await visitor.fits(width), `${width} pixels`);
    await isAccessible(page);
  }));

test("a large value does not fill the page with elements", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => ({ a: index, b: "x" }));
  for (const [value, text] of [[rows, "The first 2500 of 20000 rows"], [{ rows }, '"a": 19999']]) {
    await visiting(async (visitor, page) => {
      await pretend(visitor, { type: "object" }, value);
      await visitor.open("Test.Tool@1.0.0");
      await visitor.run();
      await page.locator(".value").getByText(text).waitFor();
      assert.ok((await page.locator(".value *").count()) < 10_000);
    });
  }
});

test("a list of objects appears as a table", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Weather.Forecast@1.0.0");
    await visitor.fill({ city: "Berlin", days: 2 });
    await visitor.run();
    const table = page.locator(".value").getByRole("table");
    await table.getByRole("columnheader", { name: "conditions" }).waitFor();
    assert.equal(await table.getByRole("row").count(), 3);
  }));

test("invalid input is shown at its field, which gets the focus", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 10, b: "infinity" });
    await visitor.run();
    const field = page.getByLabel("b", { exact: true });
    await page.locator("#field-b[aria-invalid=true]").waitFor();
    assert.equal(await field.evaluate((element) => document.getElementById(element.getAttribute("aria-describedby").split(" ").at(-1)).textContent), "Must be a number");
    assert.ok(await field.evaluate((element) => element === document.activeElement));
    assert.equal(await page.locator("#field-a[aria-invalid]").count(), 0);
    await field.fill("5");
    await visitor.run();
    await page.locator(".value").getByText("15", { exact: true }).waitFor();
    assert.equal(await page.locator("[aria-invalid]").count(), 0);
  }));

test("the same call in every protocol gives the same value; only the chosen one is called", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 17, b: 25 });
    const names = await page.getByLabel("over").locator("option").allTextContents();
    assert.ok(names.length >= 12, names.join());
    for (const name of names) {
      await page.getByLabel("over").selectOption({ label: name });
      const before = visitor.requests.length;
      await visitor.run();
      await page.locator(".value").getByText("42", { exact: true }).waitFor();
      assert.equal(visitor.requests.length, before + 1, name);
      for (const language of ["curl", "Python", "TypeScript"]) {
        await page.getByRole("tab", { name: language }).click();
        const code = await page.locator("#call-panel code").textContent();
        const { pathname } = new URL(visitor.requests.at(-1).url());
        assert.ok(code.includes(site.worker.address + pathname), code);
        assert.ok(code.includes("TOOLBOOTH_KEY") && !code.includes(KEY), code);
      }
    }
  }));

test("the playground works with the keyboard alone", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await page.locator("#field-a").focus();
    await page.keyboard.type("1");
    await page.keyboard.press("Tab");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.locator(".value").getByText("3", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "curl" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Python");
    assert.match(await page.locator("#call-panel code").textContent(), /^import os/);
  }));

test("the key is in no URL and no storage, and a reload forgets it", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 1, b: 2 });
    await visitor.run();
    await page.locator(".value").waitFor();
    for (const request of visitor.requests) assert.ok(!request.url().includes(CANARY), request.url());
    const stored = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, await indexedDB.databases(), await caches.keys()]));
    assert.equal(stored, '[{},{},"",null,[],[]]');
    assert.ok(!(await page.content()).includes(CANARY), "it is not in the document");
    assert.equal(await page.evaluate(() => document.getElementById("key").value), "");
    await page.reload();
    await page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
    // `close` of every test also searches the Worker's log for the key.
    assert.ok(!JSON.stringify(await site.worker.lines()).includes(KEY));
  }));

test("nothing runs that is injected into a page", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground");
    await assert.rejects(page.addScriptTag({ content: "document.title = 'taken'" }));
    await assert.rejects(page.addStyleTag({ content: "main { display: none }" }));
    const blocked = await visitor.problems();
    assert.ok(blocked.some((text) => text.startsWith("script-src")) || blocked.length >= 2, blocked.join());
    assert.equal(await page.title(), "Playground · Toolbooth");
  }));

test("without JavaScript, the first page and the documentation can be read", () =>
  visiting(
    async (visitor, page) => {
      await page.goto(`${site.worker.address}/`);
      for (const text of ["Tools for agents, models and programs", "Claude Code", "claude mcp add", "The list is at /tools"]) await page.getByText(text).first().waitFor();
      await page.goto(`${site.worker.address}/docs/security`);
      await page.getByRole("heading", { name: "Security", exact: true }).waitFor();
      await page.goto(`${site.worker.address}/playground`);
      await page.locator("noscript p").waitFor();
    },
    { scripts: false },
  ));

test("the first page shows one client at a time, with links that add the server to editors", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/");
    const url = `${site.worker.address}/mcp`;
    const link = async (client) => {
      await page.getByRole("tab", { name: client }).click();
      assert.equal(await page.locator("[data-client]:visible").count(), 1);
      return new URL(await page.getByRole("link", { name: `Add to ${client}` }).getAttribute("href"));
    };
    assert.deepEqual(JSON.parse(decodeURIComponent((await link("VS Code")).search.slice(1))), { name: "toolbooth", type: "http", url });
    const cursor = (await link("Cursor")).searchParams;
    assert.deepEqual([cursor.get("name"), JSON.parse(atob(cursor.get("config")))], ["toolbooth", { url }]);
  }));

/** Runs the first page's call in each language. Returns what each prints. */
async function runCode(page) {
  const printed = [];
  const folder = mkdtempSync(join(root, "target/first-call-"));
  try {
    for (const language of ["curl", "Python", "TypeScript"]) {
      await page.getByRole("tab", { name: language, exact: true }).last().click();
      const file = join(folder, language === "TypeScript" ? "call.mts" : "call.py");
      const text = await page.getByLabel(`call in ${language}`, { exact: true }).textContent();
      writeFileSync(file, text);
      const [program, ...args] = { curl: ["sh", "-c", `${text} --silent`], Python: [join(root, ".venv/bin/python"), file], TypeScript: [process.execPath, file] }[language];
      printed.push((await promisify(execFile)(program, args, { env: { ...process.env, TOOLBOOTH_KEY: KEY, NO_PROXY: "*" } })).stdout);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return printed;
}

test("the code on the first page calls a tool of this server that the visitor may use", async () => {
  for (const bundle of [SAMPLES, FIXTURES]) {
    const other = await startSite({ bundle });
    try {
      await visiting(
        async (visitor, page) => {
          await visitor.visit("/");
          await page.getByRole("tab", { name: "curl", exact: true }).click();
          // Without a key, the code has placeholders.
          await page.getByText("Replace TOOL_ID").waitFor();
          await page.getByText("needs credentials").waitFor();
          await visitor.setKey();
          await page.locator("#call-panel").waitFor();
          assert.equal(await page.locator("#placeholder-call").isVisible(), false);
          for (const text of await runCode(page)) assert.match(text, /"success": ?true|'success': True/);
          await isAccessible(page);
          for (const width of [320, 1280]) assert.ok(await visitor.fits(width));
          // Another key, and other tools.
          await visitor.setKey("unknown");
          await page.getByText("Replace TOOL_ID").waitFor();
          await page.getByText("The server does not accept this key").waitFor();
          assert.equal(await page.locator("#call-panel").count(), 0);
        },
        { address: other.worker.address },
      );
    } finally {
      await other.close();
    }
  }
});

test("without a key, the dialog opens from where the tools would be", () =>
  visiting(async (visitor, page) => {
    for (const path of ["/", "/playground"]) {
      await visitor.visit(path);
      await page.getByRole("button", { name: "Enter a key" }).click();
      await page.getByLabel("Key", { exact: true }).fill(KEY);
      await page.keyboard.press("Enter");
      await page.locator(":is(#tool-list, .tool-id) code", { hasText: "Calculator.Add@1.0.0" }).waitFor();
    }
  }));

test("the documentation can be searched", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/docs");
    await page.getByLabel("Search the documentation").fill("retry_after");
    await page.locator(".results a").first().click();
    await page.waitForURL(/\/docs\/.+/);
  }));

test("a chat with the gateway: streamed text, a call that the user approves, and its result", async () => {
  const gateway = await startGateway({ site: true, vars: { SITE: "playground", ALLOWED_ORIGINS: LOCAL } });
  try {
    gateway.upstream.openai.script({ text: "Let me add.", calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "It is 42." });
    await visiting(
      async (visitor, page) => {
        await visitor.visit("/playground");
        await visitor.setKey("canary-of-a-gateway-key");
        await page.getByRole("tab", { name: "Chat" }).click();
        await page.getByLabel("Model", { exact: true }).fill(model("openai"));
        await page.getByLabel("Message").fill("What is 17 + 25?");
        await page.keyboard.press("Enter");
        const card = page.getByRole("region", { name: "Call of Calculator_Add" });
        await card.getByText("waiting for your approval").waitFor();
        assert.match(await card.getByLabel("Input of Calculator_Add").textContent(), /"a": 17/);
        await card.getByRole("button", { name: "Run Calculator_Add" }).click();
        await card.getByLabel("Result of Calculator_Add").getByText("42").waitFor();
        await page.getByText("It is 42.").waitFor();
        await isAccessible(page);
      },
      { address: gateway.address },
    );
  } finally {
    await gateway.close();
  }
});

/** The pages without the checks of contracts, which only know JSON. */
const passing = (worker) => ({
  async request(method, path, { headers, body }) {
    if (!/^\/(playground|site\/)/.test(path)) return worker.request(method, path, { headers, body });
    const response = await fetch(worker.address + path, { method, headers });
    const { "content-encoding": _, "transfer-encoding": __, ...rest } = Object.fromEntries(response.headers);
    return { status: response.status, headers: rest, text: await response.text() };
  },
});

test("a challenge opens in a new window, and the call resumes automatically", async () => {
  const address = await front();
  const provider = await openidProvider(`${address.origin}/auth/callback/github`);
  const api = await github(provider.account);
  const challenged = await startSite({
    vars: {
      ALLOWED_ORIGINS: undefined,
      PUBLIC_URL: address.origin,
      GITHUB_API_URL: api.base,
      OAUTH_PROVIDERS: "github",
      STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
      GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
      OAUTH_GITHUB_CLIENT_ID: CLIENT.id,
      OAUTH_GITHUB_CLIENT_SECRET: CLIENT.secret,
      OAUTH_GITHUB_ISSUER: provider.issuer,
      OAUTH_GITHUB_SCOPES: "offline_access",
    },
  });
  address.serve(passing(challenged.worker));
  try {
    await visiting(
      async (visitor, page) => {
        await visitor.open("GitHub.CreateIssue@1.0.0");
        await visitor.fill({ owner: "octocat", repository: "hello-world", title: "Found a bug", labels: ["bug"] });
        await page.getByLabel("User", { exact: true }).fill(`${CANARY}-user`);
        const opened = page.waitForEvent("popup");
        await visitor.run();
        const consent = await opened;
        await page.getByText("Waiting for your authorization").waitFor();
        await consent.getByRole("button", { name: "Continue to GitHub" }).click();
        await consent.getByLabel("Name").fill("octocat");
        await consent.getByRole("button", { name: "Log in" }).click();
        await consent.getByRole("button", { name: "Allow" }).click();
        await consent.getByRole("heading", { name: "Done" }).waitFor();
        await page.locator(".value").getByText("1347", { exact: true }).waitFor();
      },
      { address: address.origin },
    );
    assert.deepEqual(address.faults, []);
  } finally {
    await address.close();
    await Promise.all([challenged.close(), provider.close(), api.close()]);
  }
});
