// The playground in a browser: values, errors, keys, the chat and challenges.
import assert from "node:assert/strict";
import { test } from "node:test";
import { standIn } from "../packages/toolbooth/src/provider.js";
import { isAccessible, look, picture, pictures } from "./support/chromium.mjs";
import { front } from "./support/front.mjs";
import { model, startGateway } from "./support/gateway/worker.mjs";
import { CANARY } from "./support/leaks.mjs";
import { KEY, LOCAL, pretend, startSite, useSite } from "./support/site.mjs";

const { visiting, worker } = useSite();

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

test("a large catalogue is searched by the server, with the keyboard alone", async () => {
  const large = await startSite({ bundle: "target/toolkits" });
  try {
    await visiting(
      async (visitor, page) => {
        await visitor.open("GitHub.ListIssues@0.1.0");
        const field = page.getByRole("searchbox", { name: "Find a tool" });
        const results = page.getByRole("list", { name: "Tools that match, the best first" }).getByRole("link");
        const focused = () => page.evaluate(() => document.activeElement.textContent);
        const shown = async (name) => {
          for (const width of [320, 1280]) {
            assert.ok(await visitor.fits(width), `${name}: ${width} pixels`);
            await isAccessible(page, `${name}: ${width} pixels`);
            await picture(page, `${name}-${width}`);
          }
        };
        // The toolkit of the tool is open, the others are folded.
        assert.deepEqual(await page.locator(".tool-list details[open] summary").allTextContents(), ["GitHub 30"]);
        await shown("playground-large");
        await field.focus();
        // No description has these words next to each other, so only the server's ranking finds the tools.
        await Promise.all([page.waitForResponse((response) => response.url().endsWith("/tools?query=tell%20colleagues%20in%20a%20channel")), page.keyboard.type("tell colleagues in a channel")]);
        await page.getByRole("status").getByText(/^\d+ tools match\.$/).waitFor();
        await results.first().getByText("Slack").waitFor();
        await shown("playground-search");
        const names = await results.allTextContents();
        await page.keyboard.press("ArrowDown");
        assert.equal(await focused(), names[0]);
        await page.keyboard.press("ArrowDown");
        assert.equal(await focused(), names[1]);
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("ArrowUp");
        assert.ok(await field.evaluate((element) => element === document.activeElement));
        await page.keyboard.press("Enter");
        await page.locator(".tool-id code", { hasText: "Slack." }).waitFor();
        // Enter leads into the form of the tool.
        await page.waitForFunction(() => document.activeElement.closest("form") !== null);
        await field.focus();
        await page.keyboard.press("Escape");
        assert.equal(await field.inputValue(), "");
        assert.ok(await field.evaluate((element) => element === document.activeElement));
        assert.deepEqual(await page.locator(".tool-list details[open] summary").allTextContents(), ["Slack 7"]);
        await field.fill("xyzzy");
        await page.getByText("No tool matches. Try other words.").waitFor();
        // Without an answer of the server, the tools stay that have the words.
        await visitor.context.route("**/tools?query=*", (route) => route.abort());
        await field.fill("merge pull");
        await results.getByText("Merge a pull request").waitFor();
        // The report of such a catalogue.
        await visitor.visit("/doctor");
        await page.getByRole("region", { name: "Optional" }).getByText("Some tools lack a variable or a binding, or the provider where users authorize them.").waitFor();
        await isAccessible(page);
      },
      { address: large.worker.address },
    );
  } finally {
    await large.close();
  }
});

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

test("a tool that does not exist is not replaced by a different one", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground#Nope.Nothing");
    await visitor.setKey();
    await page.getByRole("heading", { name: "There is no such tool" }).waitFor();
    await page.getByText("This server has no tool Nope.Nothing").waitFor();
    for (const width of [320, 1280]) {
      assert.ok(await visitor.fits(width), `${width} pixels`);
      await isAccessible(page, `${width} pixels`);
    }
    await page.getByRole("link", { name: /^Add/ }).click();
    await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
  }));

test("a user and tokens are asked for only where the protocol can carry them", () =>
  visiting(async (visitor, page) => {
    await visitor.open("GitHub.ListIssues@1.0.0");
    const options = await page.getByLabel("over").locator("option").evaluateAll((all) => all.map(({ value }) => value));
    const carrying = [];
    for (const name of options) {
      await page.getByLabel("over").selectOption(name);
      const [user, token] = [await page.getByLabel("User", { exact: true }).count(), await page.getByLabel("Access token for github").count()];
      assert.equal(user, token, name);
      if (user === 1) carrying.push(name);
      else await page.getByText("calls cannot carry users or access tokens, which this tool uses. Choose a different protocol, such as Plain HTTP").waitFor();
    }
    assert.deepEqual(carrying, ["oxp", "mcp", "otc", "oxp-envelope", "langchain", "xaibo"]);
    // What was entered is still there in the protocols that carry it.
    await page.getByLabel("over").selectOption("mcp");
    await page.getByLabel("User", { exact: true }).fill("ada");
    await page.getByLabel("Access token for github").fill(`${CANARY}-token`);
    await page.getByLabel("over").selectOption("rest");
    await isAccessible(page);
    await page.getByLabel("over").selectOption("oxp");
    assert.deepEqual([await page.getByLabel("User", { exact: true }).inputValue(), await page.getByLabel("Access token for github").inputValue()], ["ada", `${CANARY}-token`]);
  }));

test("a call that needs an account is not sent with empty required fields, and its failure is in view and says how to go on", () =>
  visiting(async (visitor, page) => {
    await visitor.open("GitHub.ListIssues@1.0.0");
    const calls = [];
    page.on("request", (request) => request.method() === "POST" && calls.push(request.url()));
    await visitor.run();
    await page.getByText("Enter a value.", { exact: true }).nth(1).waitFor();
    assert.equal(await page.getByText("Enter a value.", { exact: true }).count(), 2);
    await page.getByLabel("owner").and(page.locator(":focus")).waitFor();
    assert.deepEqual(calls, []);
    await visitor.fill({ owner: "octocat", repository: "hello-world" });
    await page.getByLabel("over").selectOption("openai");
    await visitor.run();
    await page.getByText("This tool uses an account. OpenAI Chat Completions calls cannot carry a user or an access token. Choose a different protocol").waitFor();
    await page.waitForFunction(() => document.querySelector(".result").getBoundingClientRect().top >= 0);
    assert.equal(calls.length, 1);
  }));

test("a chat without a model is explained", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground#chat");
    await visitor.setKey();
    await page.getByRole("heading", { name: "There is no chat here" }).waitFor();
  }));

test("the hint for the model and the text for the log are shown", () =>
  visiting(async (visitor, page) => {
    const error = { message: "Unknown city", developer_message: "It returned 404.", additional_prompt_content: "Use an English name.", can_retry: true };
    await visitor.context.route("**/oxp/tools/call", (route) => route.fulfill({ contentType: "application/json", body: JSON.stringify({ success: false, error }) }));
    await visitor.open("Weather.Current@1.0.0");
    await visitor.run();
    await page.locator(".failure").getByText("Unknown city").waitFor();
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
    await visitor.run();
    await page.getByLabel("over").selectOption("mcp");
    const [response] = await Promise.all([page.waitForResponse("**/oxp/tools/call"), resolve()]);
    await response.finished();
    await page.getByText("Run the tool to see the result here.").waitFor();
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
        assert.ok(code.includes(worker().address + pathname), code);
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

test("a chat with the gateway: streamed text, a call that the user approves, and its result", async () => {
  const gateway = await startGateway({ site: true, vars: { SITE: "playground", ALLOWED_ORIGINS: LOCAL } });
  try {
    gateway.upstream.openai.script({ text: "Let me add.", calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "It is **42**.\n\n- <b>one</b>\n- [link](https://example.com/)\n- [script](javascript:alert(1))" });
    await visiting(
      async (visitor, page) => {
        await visitor.visit("/playground");
        await visitor.setKey("canary-of-a-gateway-key");
        await page.getByRole("tab", { name: "Chat" }).click();
        await page.getByRole("button", { name: "What can you do here?" }).waitFor();
        await pictures(page, "chat");
        await page.getByLabel("Model", { exact: true }).fill(model("openai"));
        // Smaller than the conversation: what is new must come into view.
        await page.setViewportSize({ width: 700, height: 360 });
        await page.getByLabel("Message").fill("What is 17 + 25?");
        await page.keyboard.press("Enter");
        const card = page.getByRole("region", { name: "Call of Calculator_Add" });
        await card.getByText("waiting for your approval").waitFor();
        assert.match(await card.getByLabel("Input of Calculator_Add").textContent(), /"a": 17/);
        const run = card.getByRole("button", { name: "Run Calculator_Add" });
        // Neither below the window nor behind the form.
        const isInView = (one) => one.contains(document.elementFromPoint(one.getBoundingClientRect().x + 9, one.getBoundingClientRect().y + 9));
        await page.waitForFunction(isInView, await run.elementHandle());
        await run.click();
        await card.getByLabel("Result of Calculator_Add").getByText("42").waitFor();
        const answer = page.locator(".turn.assistant .prose").last();
        await answer.getByText("It is 42.").waitFor();
        await page.locator(".took").last().getByText(model("openai")).waitFor();
        assert.equal(await answer.locator("strong").textContent(), "42");
        assert.deepEqual(await answer.locator("li").allTextContents(), ["<b>one</b>", "link", "script"]);
        assert.deepEqual(await answer.getByRole("link").evaluateAll((all) => all.map(({ href }) => href)), ["https://example.com/"]);
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

test("a visitor authorizes a tool at the stand-in provider of make dev, and gets a value", async () => {
  const address = await front();
  const provider = await standIn(["github"], address.origin);
  const challenged = await startSite({
    vars: { ALLOWED_ORIGINS: undefined, STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, ...provider.vars, ...provider.services },
  });
  address.serve(passing(challenged.worker));
  try {
    await visiting(
      async (visitor, page) => {
        await visitor.open("GitHub.ListIssues@1.0.0");
        await visitor.fill({ owner: "octocat", repository: "hello-world" });
        // A key does not say who its holder acts for.
        await visitor.run();
        await page.getByRole("heading", { name: "Which user is this call for?" }).waitFor();
        await page.getByText("Enter a user.", { exact: true }).waitFor();
        await page.getByLabel("User", { exact: true }).and(page.locator(":focus")).waitFor();
        await page.keyboard.type(`${CANARY}-user`);
        // Protocols that return only text have the same step.
        await page.getByLabel("over").selectOption("mcp");
        await visitor.run();
        await page.getByRole("link", { name: "Continue to GitHub (stand-in)" }).waitFor();
        await page.getByLabel("over").selectOption("oxp");
        await visitor.run();
        await page.getByRole("heading", { name: "Connect GitHub (stand-in)" }).waitFor();
        const step = await page.locator(".result .notice").innerText();
        for (const part of [new URL(address.origin).host, `the account of ${CANARY}-user`, "The tool List issues needs it."]) assert.ok(step.includes(part), `${part}: ${step}`);
        assert.doesNotMatch(await page.locator(".result > :not(details)").allInnerTexts().then(String), /context|Error/);
        await isAccessible(page);
        assert.ok(await visitor.fits(320));
        await picture(page, "step-narrow");
        await page.setViewportSize({ width: 1280, height: 900 });
        await picture(page, "step");
        const [consent] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "Continue to GitHub (stand-in)" }).click()]);
        await page.getByText("Waiting for you to agree").waitFor();
        await consent.getByText("visitor asks for access to your account at GitHub (stand-in).").waitFor();
        await consent.getByText("List issues (GitHub.ListIssues)").waitFor();
        await look(consent, "challenge-of-a-key");
        await consent.getByRole("button", { name: "Continue to GitHub (stand-in)" }).click();
        await consent.getByRole("link", { name: "Allow" }).waitFor();
        await isAccessible(consent);
        await look(consent, "stand-in");
        await consent.getByRole("link", { name: "Allow" }).click();
        await consent.getByRole("heading", { name: "Done" }).waitFor();
        await page.locator(".value").getByText("1347", { exact: true }).waitFor();
        await picture(page, "authorized-value");
      },
      { address: address.origin },
    );
    assert.deepEqual(address.faults, []);
  } finally {
    await address.close();
    await challenged.close();
    provider.close();
  }
});
