// The pages of the site in a browser: the first page, the documentation, and what all pages have in common.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { isAccessible } from "./support/chromium.mjs";
import { root } from "./support/commands.mjs";
import { CANARY } from "./support/leaks.mjs";
import { KEY, startSite, useSite } from "./support/site.mjs";
import { FIXTURES, SAMPLES } from "./support/worker.mjs";

const { visiting, worker } = useSite();

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
  "/nowhere": async (visitor) => {
    await visitor.visit("/nowhere");
    await visitor.page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await visitor.page.getByRole("link", { name: "Overview" }).last().waitFor();
  },
  "/doctor": async (visitor) => {
    await visitor.visit("/docs");
    await visitor.page.getByRole("link", { name: "Doctor", exact: true }).click();
    await visitor.page.getByRole("heading", { name: "What to change" }).waitFor();
  },
  "/usage": async (visitor) => {
    await visitor.visit("/usage");
    await visitor.setKey();
    await visitor.page.getByText("There is no budget that you may see").waitFor();
    await visitor.page.getByRole("button", { name: "Key set" }).waitFor();
  },
  "/signed-in": async (visitor) => {
    await visitor.visit("/signed-in");
    // This window was not opened by a script, so the page may not close it.
    await visitor.page.getByRole("heading", { name: "Please return" }).waitFor();
    await visitor.problems();
  },
  "/docs, search": async (visitor) => {
    await visitor.visit("/docs/security");
    await visitor.page.getByLabel("Search the documentation").fill("allowlist");
    await visitor.page.getByRole("option", { name: /TOOL_ALLOWLIST|Configuration/ }).first().waitFor();
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

test("the header has a line for the brand and a line for the links until it has room for one", () =>
  visiting(async (visitor, page) => {
    for (const path of ["/", "/docs"]) {
      await visitor.visit(path);
      const field = page.locator(path === "/" ? "#credentials .credentials > button" : "#docs-search input");
      await field.waitFor();
      for (const [width, lines] of [[320, 2], [360, 2], [768, 2], [1280, 1]]) {
        await page.setViewportSize({ width, height: 800 });
        const middles = await page.locator(".site-header").evaluate((header) => {
          const items = [...header.querySelectorAll(".brand, nav a, .credentials > button, #docs-search input")];
          return items.filter((item) => item.checkVisibility()).map((item) => item.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 10));
        });
        assert.equal(new Set(middles).size, lines, `${path}, ${width} pixels: ${middles}`);
      }
    }
  }));

test("a button to copy covers no code, and an address is in one line on a phone", () =>
  visiting(async (visitor, page) => {
    for (const path of ["/", "/docs/gateway"]) {
      await visitor.visit(path);
      if (path === "/") await visitor.setKey();
      await page.locator(".code-block .copy").first().waitFor();
      for (const width of [320, 1280, 1600]) {
        await page.setViewportSize({ width, height: 800 });
        const covered = await page.locator(".code-block").evaluateAll((blocks) => blocks.filter((block) => block.checkVisibility()).flatMap((block) => {
          const [button, code, frame] = [block.querySelector(".copy"), block.querySelector("code"), block.querySelector("pre")].map((one) => one.getBoundingClientRect());
          const range = document.createRange();
          range.selectNodeContents(block.querySelector("code"));
          // Lines that do not wrap go on behind the end of their box.
          const lines = [...range.getClientRects()].map((line) => ({ top: line.top, bottom: line.bottom, left: line.left, right: Math.min(line.right, frame.right) }));
          return lines.some((line) => line.right > button.left + 1 && line.left < button.right && line.bottom > button.top + 1 && line.top < button.bottom - 1) ? [`${code.width}: ${block.textContent.slice(0, 60)}`] : [];
        }));
        assert.deepEqual(covered, [], `${path}, ${width} pixels`);
      }
      await page.setViewportSize({ width: 320, height: 800 });
      if (path === "/") assert.equal(await page.locator(".hero code").first().evaluate((code) => code.getClientRects().length), 1);
    }
  }));

test("the sections of a long page are beside it from 1280 pixels on", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/docs/gateway");
    for (const [width, isShown] of [[1200, false], [1280, true], [1600, true]]) {
      await page.setViewportSize({ width, height: 800 });
      assert.equal(await page.getByRole("navigation", { name: "On this page" }).isVisible(), isShown, `${width} pixels`);
      assert.ok(await visitor.fits(width));
    }
  }));

test("the first page asks for nothing that is not there", () =>
  visiting(async (visitor, page) => {
    const missing = [];
    page.on("response", (response) => response.status() === 404 && missing.push(response.url()));
    await visitor.visit("/");
    await visitor.setKey();
    await page.locator("#tool-list").getByText("Calculator.Add@1.0.0").waitFor();
    assert.deepEqual(missing, []);
  }));

test("on paper, nothing is cut off, and there is nothing to click", () =>
  visiting(async (visitor, page) => {
    await page.setViewportSize({ width: 700, height: 1000 });
    for (const path of ["/docs/clients", "/docs/tools", "/docs/protocols/xaibo"]) {
      await visitor.visit(path);
      await page.emulateMedia({ media: "print" });
      const cut = await page.locator("pre, .table").evaluateAll((boxes) =>
        boxes.filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight).map((box) => box.innerText.slice(0, 40)));
      assert.deepEqual(cut, [], path);
      for (const hidden of [".site-header", ".docs-nav", ".copy"]) assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
    }
  }));

test("a command never wraps between the hyphens of an option", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/");
    const option = page.locator("#clients pre .option", { hasText: "--header" }).first();
    for (let width = 320; width < 900; width += 20) {
      await page.setViewportSize({ width, height: 800 });
      assert.equal(await option.evaluate((text) => text.getClientRects().length), 1, `${width} pixels`);
    }
    assert.match(await page.locator("#clients pre").first().innerText(), /^claude mcp add --transport http /);
  }));

test("with forced colours, the chosen tab differs from the others", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/");
    const colours = () => page.getByRole("tab").evaluateAll((tabs) => tabs.slice(0, 2).map((tab) => getComputedStyle(tab).color));
    await page.getByRole("tab", { name: "Codex" }).waitFor();
    const [chosen, other] = await colours();
    assert.notEqual(chosen, other);
  }, { forcedColors: "active" }));

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
    // The text is there for a moment.
    const selected = page.getByRole("status").getByText("Selected").waitFor();
    await Promise.all([selected, page.locator(".hero").getByRole("button", { name: "Copy" }).click()]);
    assert.equal(await page.evaluate(() => String(getSelection())), `${worker().address}/mcp`);
  }));

test("the key is in the tab's own storage and nowhere else: the tab's pages have it, and other tabs do not", () =>
  visiting(async (visitor, page) => {
    await visitor.open("Calculator.Add@1.0.0");
    await visitor.fill({ a: 1, b: 2 });
    await visitor.run();
    await page.locator(".value").waitFor();
    for (const request of visitor.requests) assert.ok(!request.url().includes(CANARY), request.url());
    const stored = await page.evaluate(async () => JSON.stringify([{ ...localStorage }, document.cookie, history.state, await indexedDB.databases(), await caches.keys()]));
    assert.equal(stored, '[{},"",null,[],[]]');
    assert.deepEqual(await page.evaluate(() => ({ ...sessionStorage })), { credential: JSON.stringify({ secret: KEY }) });
    assert.ok(!(await page.content()).includes(CANARY), "it is not in the document");
    assert.equal(await page.evaluate(() => document.getElementById("key").value), "");
    await page.reload();
    await page.locator(".tool-id").getByText("Calculator.Add@1.0.0").waitFor();
    await page.getByRole("link", { name: "Docs", exact: true }).click();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.locator("#tool-list").getByText("Calculator.Add@1.0.0").waitFor();
    const other = await visitor.context.newPage();
    await other.goto(`${worker().address}/playground`);
    await other.getByRole("heading", { name: "This server needs credentials" }).waitFor();
    await page.getByRole("button", { name: "Key set" }).click();
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.getByText("The list of tools needs credentials.").waitFor();
    assert.deepEqual(await page.evaluate(() => ({ ...sessionStorage })), {});
    // `close` of every test also searches the Worker's log for the key.
    assert.ok(!JSON.stringify(await worker().lines()).includes(KEY));
  }));

test("nothing runs that is injected into a page", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/playground");
    await assert.rejects(page.addScriptTag({ content: "document.title = 'taken'" }));
    await assert.rejects(page.addStyleTag({ content: "main { display: none }" }));
    await page.waitForFunction(() => ["require-trusted-types-for", "style-src"].every((name) => globalThis.violations.some((text) => text.startsWith(name))));
    const blocked = await visitor.problems();
    assert.ok(blocked.length >= 2, blocked.join());
    assert.equal(await page.title(), "Playground · Toolbooth");
  }));

test("without JavaScript, the first page and the documentation can be read", () =>
  visiting(
    async (visitor, page) => {
      await page.goto(`${worker().address}/`);
      for (const text of ["Tools for agents, models and programs", "Claude Code", "claude mcp add", "The list is at /tools"]) await page.getByText(text).filter({ visible: true }).first().waitFor();
      await page.goto(`${worker().address}/docs/security`);
      await page.getByRole("heading", { name: "Security", exact: true }).waitFor();
      await page.goto(`${worker().address}/playground`);
      await page.locator("noscript p").waitFor();
      // A notice is a grid, in which a link would have a line of its own.
      assert.equal(await page.locator("noscript p > a").evaluate(({ parentElement }) => getComputedStyle(parentElement).display), "block");
    },
    { scripts: false },
  ));

test("the first page shows one client at a time, with links that add the server to editors", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/");
    const url = `${worker().address}/mcp`;
    const link = async (client) => {
      await page.getByRole("tab", { name: client }).click();
      assert.equal(await page.locator("[data-client]:visible").count(), 1);
      return new URL(await page.getByRole("link", { name: `Add to ${client}` }).getAttribute("href"));
    };
    assert.deepEqual(JSON.parse(decodeURIComponent((await link("VS Code")).search.slice(1))), { name: "toolbooth", type: "http", url });
    const cursor = (await link("Cursor")).searchParams;
    assert.deepEqual([cursor.get("name"), JSON.parse(atob(cursor.get("config")))], ["toolbooth", { url }]);
  }));

test("the first page shows how to connect with the server's AUTH", async () => {
  for (const [AUTH, shown, clients] of [
    ["api-key", /TOOLBOOTH_KEY[^]*Bearer/, ["Claude Code", "curl"]],
    ["sign-in", /With sign-in, add the address/, ["Claude Code", "VS Code"]],
    ["none", /This server needs no credentials/, ["Claude Code", "curl", "OpenAI SDK"]],
  ]) {
    const other = await startSite({ vars: { AUTH, ANONYMOUS_SCOPES: "*", PUBLIC_URL: "http://localhost:8787", STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` } });
    try {
      await visiting(
        async (visitor, page) => {
          await visitor.visit("/");
          const connect = page.getByRole("region", { name: "Connect", exact: true });
          const texts = [];
          for (const tab of await connect.getByRole("tablist", { name: "Client" }).getByRole("tab").all()) {
            await tab.click();
            texts.push(await connect.innerText());
          }
          assert.match(texts.join("\n"), shown, AUTH);
          if (AUTH !== "api-key") assert.doesNotMatch(texts.join("\n"), /TOOLBOOTH_KEY|Bearer/, AUTH);
          if (AUTH !== "sign-in") assert.doesNotMatch(texts.join("\n"), /^With sign-in/m, AUTH);
          for (const client of clients) await connect.getByRole("tab", { name: client, exact: true }).waitFor();
          assert.equal(await connect.getByRole("tab", { name: "curl", exact: true }).count(), AUTH === "sign-in" ? 0 : 1, AUTH);
          await isAccessible(page);
        },
        { address: other.worker.address },
      );
    } finally {
      await other.close();
    }
  }
});

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

for (const path of ["/", "/playground"]) {
  test(`${path}: without a key, the dialog opens from where the tools would be`, () =>
    visiting(async (visitor, page) => {
      await visitor.visit(path);
      await page.getByRole("button", { name: "Enter a key" }).click();
      await page.getByLabel("Key", { exact: true }).fill(KEY);
      await page.keyboard.press("Enter");
      await page.locator(":is(#tool-list, .tool-id) code", { hasText: "Calculator.Add@1.0.0" }).waitFor();
    }));
}

test("the header says what the server has said about the key, and nothing before", () =>
  visiting(async (visitor, page) => {
    const list = Promise.withResolvers();
    await visitor.context.route("**/tools", (route) => list.promise.then(() => route.continue()), { times: 1 });
    await visitor.context.addInitScript((credential) => sessionStorage.setItem("credential", credential), JSON.stringify({ secret: KEY }));
    await visitor.visit("/playground");
    const button = (name) => page.getByRole("button", { name, exact: true });
    const dot = page.locator(".credentials .dot");
    await button("Key not checked").waitFor();
    assert.equal(await dot.getAttribute("class"), "dot unchecked");
    list.resolve();
    await button("Key set").waitFor();
    assert.equal(await dot.getAttribute("class"), "dot accepted");
    // The server stops accepting it.
    await visitor.context.route("**/oxp/tools/call", (route) => route.fulfill({ status: 401, contentType: "application/json", body: "{}" }));
    await visitor.run();
    await button("Key rejected").waitFor();
    assert.equal(await dot.getAttribute("class"), "dot rejected");
    await button("Enter a key").waitFor();
    await isAccessible(page);
  }));

test("a key in the fragment is taken on this machine only, and leaves the address everywhere", async () => {
  for (const [address, tools] of [[worker().address, true], [worker().address.replace("127.0.0.1", "localhost"), true], ["https://tools.example.net", false]]) {
    await visiting(
      async (visitor, page) => {
        // Playwright brings the pages of the other address from this machine.
        if (!tools) await visitor.context.route(`${address}/**`, async (route) => route.fulfill({ response: await route.fetch({ url: route.request().url().replace(address, worker().address) }) }));
        await visitor.visit(`/playground#key=${KEY}`);
        if (tools) await page.locator(".tool-id").waitFor();
        else await page.getByRole("heading", { name: "This server needs credentials" }).waitFor();
        assert.equal(page.url(), `${address}/playground`);
        assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), tools ? ["credential"] : []);
        for (const request of visitor.requests) assert.ok(!request.url().includes(CANARY), request.url());
        // The tab is open already.
        await page.evaluate((hash) => (location.hash = hash), `key=${KEY}-wrong`);
        await page.getByRole("heading", { name: tools ? "The server does not accept this key" : "This server needs credentials" }).waitFor();
        assert.equal(page.url(), `${address}/playground`);
      },
      { address },
    );
  }
});

test("the documentation can be searched with the keyboard", () =>
  visiting(async (visitor, page) => {
    await visitor.visit("/docs");
    const field = page.getByRole("combobox", { name: "Search the documentation" });
    const option = (index) => page.getByRole("option").nth(index);
    const search = async (text) => {
      await field.fill(text);
      await option(1).waitFor();
    };
    const chosen = () => page.evaluate(() => [document.activeElement.id, document.activeElement.getAttribute("aria-activedescendant"), document.querySelector("[aria-selected=true]")?.id ?? null]);
    await search("retry_after");
    assert.equal(await field.getAttribute("aria-expanded"), "true");
    const last = (await page.getByRole("option").count()) - 1;
    for (const [key, index] of [["ArrowUp", last], ["ArrowDown", 0], ["ArrowDown", 1], ["ArrowUp", 0]]) {
      await field.press(key);
      assert.deepEqual(await chosen(), ["search", `result-${index}`, `result-${index}`], key);
    }
    await isAccessible(page);
    await field.press("Escape");
    assert.deepEqual([await field.inputValue(), await field.getAttribute("aria-expanded"), await page.getByRole("option").count()], ["", "false", 0]);
    await search("retry_after");
    await field.press("ArrowDown");
    await field.press("ArrowDown");
    const second = await option(1).getAttribute("href");
    await field.press("Enter");
    await page.waitForURL(worker().address + second);
    // Without an arrow, Enter opens the first result; a click opens any.
    await search("allowlist");
    const first = await option(0).getAttribute("href");
    await field.press("Enter");
    await page.waitForURL(worker().address + first);
    await search("deploy");
    const clicked = await option(1).getAttribute("href");
    await option(1).click();
    await page.waitForURL(worker().address + clicked);
  }));
