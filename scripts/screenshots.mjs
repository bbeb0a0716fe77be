// Writes pictures of every page of the site, narrow and wide, light and dark, into target/screenshots, and those of the README
// into docs/images.
//   node scripts/screenshots.mjs [page…]
import { mkdirSync, writeFileSync } from "node:fs";
import { launch } from "../tests/support/chromium.mjs";
import { standIns } from "../tests/support/providers/stand-in.mjs";
import { model, variables } from "../tests/support/gateway/worker.mjs";
import { Visitor, startSite } from "../tests/support/site.mjs";

const FOLDER = "target/screenshots";
/** The address in the pictures. No request leaves this machine. */
const ADDRESS = "https://tools.example.com";
const WIDTHS = { narrow: 320, wide: 1280 };
const HEIGHTS = { narrow: 640, wide: 800 };

mkdirSync(FOLDER, { recursive: true });
const models = await standIns();
const { OPENAI_API_KEY, OPENAI_BASE_URL } = variables(models);
const served = await startSite({ vars: { OPENAI_API_KEY, OPENAI_BASE_URL } });
const browser = await launch();

/** Shows figures of two callers, because this machine has none of the last days. */
async function showUsage(visitor) {
  const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const days = Array.from({ length: 31 }, (_, ago) => ({ day: day(30 - ago), usd: Math.abs(Math.sin(ago)) * 4, requests: ago, tool_calls: 3 * ago }));
  const budget = (unit, window, limit, used, reserved = 0) => ({ unit, window, limit, used, reserved, resets_at: "2026-11-25T00:00:00Z" });
  const callers = [
    { name: "ada", kind: "key", budgets: [budget("usd", "1d", 5, 3.25, 0.5), budget("requests", "1m", 60, 60)], days },
    { name: "github:583231", kind: "person", budgets: [budget("tool_calls", "1h", 200, 15)], days: [] },
  ];
  await visitor.context.route("**/usage", (route) => (route.request().isNavigationRequest() ? route.fallback() : route.fulfill({ json: { callers } })));
  await visitor.visit("/usage");
  await visitor.page.getByRole("heading", { name: "Budgets" }).waitFor();
}

/** The pages, and what to do on each before its picture is taken. */
const PAGES = {
  landing: { path: "/", ready: (visitor) => visitor.setKey() },
  "landing-closed": { path: "/" },
  docs: { path: "/docs" },
  "docs-clients": { path: "/docs/clients" },
  "docs-protocol": { path: "/docs/protocols/xaibo" },
  doctor: { path: "/doctor" },
  usage: { path: "/usage", ready: showUsage },
  "playground-closed": { path: "/playground" },
  playground: {
    path: "/playground",
    async ready(visitor) {
      await visitor.open("Weather.Forecast@1.0.0");
      await visitor.fill({ city: "Berlin", units: "fahrenheit", days: 2 });
      await visitor.run();
      await visitor.page.locator(".value").waitFor();
      await visitor.page.frameLocator(".view iframe").getByText("Weather by Open-Meteo").waitFor();
    },
  },
  "playground-error": {
    path: "/playground",
    async ready(visitor) {
      await visitor.open("Calculator.Add@1.0.0");
      await visitor.fill({ a: 10, b: "infinity" });
      await visitor.run();
      await visitor.page.getByText("Must be a number").first().waitFor();
    },
  },
  "playground-issue": {
    path: "/playground",
    async ready(visitor) {
      await visitor.open("GitHub.CreateIssue@1.0.0");
      await visitor.fill({ owner: "octocat", labels: ["bug"] });
    },
  },
  chat: {
    path: "/playground",
    async ready(visitor) {
      models.openai.script({ text: "Let me add them.", calls: [{ name: "Calculator_Add", input: { a: 17, b: 25 } }] }, { text: "17 + 25 is 42." });
      await visitor.visit("/playground");
      await visitor.setKey();
      await visitor.page.getByRole("tab", { name: "Chat" }).click();
      await visitor.page.getByLabel("Model", { exact: true }).fill(model("openai"));
      await visitor.page.getByLabel("Message").fill("What is 17 + 25?");
      await visitor.page.getByRole("button", { name: "Send" }).click();
      await visitor.page.getByRole("button", { name: "Run Calculator_Add" }).click();
      await visitor.page.getByText("17 + 25 is 42.").waitFor();
    },
  },
};

/** A visitor of the Worker at `ADDRESS`. */
async function arrive(viewport, options = {}) {
  const visitor = await Visitor.arrive(browser, ADDRESS, { viewport, reducedMotion: "reduce", ...options });
  await visitor.context.route("**/*", async (route) => {
    const request = route.request();
    const reply = await served.worker.fetch(request.url(), { method: request.method(), headers: await request.allHeaders(), body: request.postDataBuffer() ?? undefined });
    const { "content-encoding": _, ...headers } = Object.fromEntries(reply.headers);
    await route.fulfill({ status: reply.status, headers, body: Buffer.from(await reply.arrayBuffer()) });
  });
  return visitor;
}

/** A picture of what is visible as WebP, which has a fifth of the bytes of PNG. */
async function webp(page) {
  const png = await page.screenshot();
  // Another page: that of the site allows no scripts of others.
  const blank = await browser.newPage();
  const url = await blank.evaluate(async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.75);
  }, png.toString("base64"));
  await blank.close();
  return Buffer.from(url.split(",")[1], "base64");
}

const only = process.argv.slice(2);
for (const [name, { path, ready }] of Object.entries(PAGES)) {
  if (only.length > 0 && !only.includes(name)) continue;
  for (const [size, width] of Object.entries(WIDTHS)) {
    const visitor = await arrive({ width, height: HEIGHTS[size] });
    await visitor.visit(path);
    await ready?.(visitor);
    await visitor.page.waitForLoadState("networkidle");
    // What is sticky belongs to the top of the picture.
    await visitor.page.evaluate(() => scrollTo(0, 0));
    for (const colorScheme of ["light", "dark"]) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.page.screenshot({ path: `${FOLDER}/site-${name}-${size}-${colorScheme}.png`, fullPage: true });
    }
    await visitor.close();
  }
}

if (only.length === 0 || only.includes("readme")) {
  const visitor = await arrive({ width: 1280, height: 900 }, { deviceScaleFactor: 1.25 });
  await PAGES.playground.ready(visitor);
  // The view says the same in less room.
  await visitor.page.getByText("Value", { exact: true }).click();
  // No card is cut off.
  const { y, height } = await visitor.page.locator(".output").boundingBox();
  await visitor.page.setViewportSize({ width: 1280, height: Math.ceil(y + height + 24) });
  await visitor.page.evaluate(() => scrollTo(0, 0));
  for (const colorScheme of ["light", "dark"]) {
    await visitor.page.emulateMedia({ colorScheme });
    writeFileSync(`docs/images/playground-${colorScheme}.webp`, await webp(visitor.page));
  }
  await visitor.close();
}
await browser.close();
await served.close();
await models.close();
