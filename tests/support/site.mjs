// Opens the pages of the site in a browser, and fills in the playground's forms.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before } from "node:test";
import { entryOf } from "../../packages/toolbooth/src/credentials.js";
import { launch } from "./chromium.mjs";
import { github } from "./github.mjs";
import { openMeteo } from "./open-meteo.mjs";
import { CANARY, SAMPLES, start } from "./worker.mjs";

const root = new URL("../../", import.meta.url);

/** A key that may call everything. Like all keys of tests, it has the word that no log may have. */
export const KEY = `${CANARY}-key-of-a-visitor`;
/** The pages of this machine may call: a test's port is not known in advance, and without TLS only listed pages may. */
export const LOCAL = "http://127.0.0.1:*,http://localhost:*";

/** Starts the Worker with the site and the services that its tools call. */
export async function startSite({ vars = {}, bundle = SAMPLES } = {}) {
  const [weather, issues] = await Promise.all([openMeteo(), github()]);
  const worker = await start(bundle, {
    site: true,
    vars: {
      SITE: "playground",
      AUTH: "api-key",
      API_KEYS: JSON.stringify([entryOf(KEY, "visitor", ["*"])]),
      ALLOWED_ORIGINS: LOCAL,
      WEATHER_FORECAST_URL: weather.base,
      WEATHER_GEOCODING_URL: weather.base,
      GITHUB_API_URL: issues.base,
      ...vars,
    },
  });
  const close = async () => {
    await worker.close();
    await Promise.all([weather.close(), issues.close()]);
  };
  return { worker, close };
}

/** What the Worker logs about the examples with a repository that does not exist. */
const NOT_FOUND = '{"event":"github","status":"404"}';

/**
 * Starts the site and a browser for the tests of a file. `visiting` runs its argument with a new page, about which the
 * browser must not complain.
 */
export function useSite() {
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
  const worker = () => site.worker;
  const visiting = async (use, { address = worker().address, ...options } = {}) => {
    const visitor = await Visitor.arrive(browser, address, options);
    try {
      await use(visitor, visitor.page);
      // Without scripts, the page cannot be asked.
      if (options.scripts !== false) assert.deepEqual(await visitor.problems(), []);
    } finally {
      await visitor.close();
    }
  };
  return { visiting, worker };
}

/** Replaces the list of tools by one tool with this schema, and the result of its calls. Returns the inputs of the calls. */
export async function pretend(visitor, input_schema, value = null) {
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

/** The definitions below a folder. */
export function definitions(folder) {
  const files = readdirSync(new URL(folder, root), { recursive: true }).filter((file) => /@[\d.]+\.json$/.test(file));
  return files.sort().map((file) => {
    const text = readFileSync(new URL(`${folder}/${file}`, root), "utf8");
    // Numbers as they are written: JavaScript's own lose digits.
    return JSON.parse(text, (_, value, { source } = {}) => (typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value));
  });
}

/** A page of the site, with everything that the browser complained about. */
export class Visitor {
  complaints = [];
  requests = [];

  static async arrive(browser, address, { scripts = true, ...options } = {}) {
    const visitor = new Visitor();
    visitor.address = address;
    visitor.context = await browser.newContext({ javaScriptEnabled: scripts, ...options });
    visitor.context.setDefaultTimeout(120_000);
    visitor.page = await visitor.context.newPage();
    visitor.page.on("console", (message) => visitor.complaints.push(message.text()));
    visitor.page.on("pageerror", (error) => visitor.complaints.push(String(error)));
    visitor.context.on("request", (request) => visitor.requests.push(request));
    return visitor;
  }

  async visit(path) {
    await this.page.goto(this.address + path);
    await this.page.evaluate(() => {
      globalThis.violations = [];
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => globalThis.violations.push(`${violatedDirective} ${blockedURI}`));
    });
  }

  /** What the browser complained about since the last time, without the statuses of responses. */
  async problems() {
    const violations = await this.page.evaluate(() => globalThis.violations?.splice(0) ?? []);
    return [...violations, ...this.complaints.splice(0).filter((text) => !text.startsWith("Failed to load resource"))];
  }

  /** Whether the page needs no scrolling sideways at this width. */
  async fits(width) {
    await this.page.setViewportSize({ width, height: 800 });
    return this.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  }

  async setKey(key = KEY) {
    await this.page.getByRole("button", { name: /^(Set key|Key (set|rejected|not checked))$/ }).click();
    await this.page.getByLabel("Key", { exact: true }).fill(key);
    await this.page.getByRole("button", { name: "Use key" }).click();
    await this.page.getByRole("dialog").waitFor({ state: "hidden" });
  }

  async open(id) {
    await this.visit("/playground");
    await this.setKey();
    await this.page.evaluate((hash) => (location.hash = hash), encodeURIComponent(id));
    await this.page.locator(".tool-id code", { hasText: id }).waitFor();
  }

  run() {
    return this.page.getByRole("button", { name: "Run", exact: true }).click();
  }

  /** Fills in the form with an input. */
  async fill(input) {
    for (const [name, value] of Object.entries(input)) await this.#set(name, value);
  }

  async #set(path, value) {
    const control = () => this.page.locator(`[data-path=${JSON.stringify(path)}]`);
    const group = () => this.page.locator(`[data-group=${JSON.stringify(path)}]`);
    if ((await control().count()) > 0 && (await control().getAttribute("data-absent"))) await control().click();
    const variants = this.page.locator(`[id=${JSON.stringify(`field-${path}-variant`)}]`);
    if ((await variants.count()) > 0) await this.#choose(variants, path, value);
    else if ((await group().count()) > 0) await this.#parts(path, value);
    else await this.#scalar(control(), value);
  }

  /** Chooses the variant whose fields fit the value. */
  async #choose(variants, path, value) {
    for (const option of await variants.locator("option").all()) {
      const label = await option.textContent();
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
      const fits = value === null ? label === "null" : Array.isArray(value) ? label === "list" : isObject ? Object.keys(value).every((name) => label.includes(name)) : !["null", "list"].includes(label);
      if (!fits) continue;
      await variants.selectOption({ label });
      if (value !== null) await (isObject || Array.isArray(value) ? this.#parts(path, value) : this.#scalar(this.page.locator(`[data-path=${JSON.stringify(path)}]`), value));
      return;
    }
    assert.fail(`no variant of ${path} fits ${JSON.stringify(value)}`);
  }

  async #parts(path, value) {
    if (!Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) await this.#set(`${path}.${name}`, member);
      return;
    }
    const items = this.page.locator(`[data-path^=${JSON.stringify(`${path}[`)}], [data-group^=${JSON.stringify(`${path}[`)}]`);
    for (let index = 0; index < value.length; index += 1) {
      const item = this.page.locator(`[data-path=${JSON.stringify(`${path}[${index}]`)}], [data-group=${JSON.stringify(`${path}[${index}]`)}]`);
      if ((await items.count()) === 0 || (await item.count()) === 0) await this.page.locator(`[data-add=${JSON.stringify(path)}]`).click();
      await this.#set(`${path}[${index}]`, value[index]);
    }
  }

  async #scalar(control, value) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if ((await control.evaluate(({ tagName }) => tagName)) === "SELECT") await control.selectOption({ label: text });
    else await control.fill(text);
  }

  async close() {
    // A request that a route still answers ends with the page: that is no error of a test.
    await this.context.unrouteAll({ behavior: "ignoreErrors" });
    await this.context.close();
  }
}
