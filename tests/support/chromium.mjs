// Starts a real browser, and checks how the pages look in it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import axe from "axe-core";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const FOUND = at(".tools/.chromium");
const SCREENSHOTS = at("target/screenshots");

/** Starts Chromium with a fresh profile. It cannot reach other machines. */
export function launch() {
  const executablePath = existsSync(FOUND) && readFileSync(FOUND, "utf8").trim();
  assert.ok(executablePath, "no browser: `make chromium` finds one or says what to install");
  return chromium.launch({
    executablePath,
    headless: true,
    timeout: 120_000,
    // Chromium does not start its sandbox as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  });
}

const SIZES = {
  narrow: { width: 320, height: 568 },
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
};

/** With SCREENSHOTS=1, as in `make screenshots`, writes a picture of a page into target/screenshots. Otherwise does nothing: pictures take time. */
export async function picture(page, name, options = {}) {
  if (process.env.SCREENSHOTS !== "1") return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, ...options });
}

/** With SCREENSHOTS=1, writes pictures of a page at the widths of a phone, a laptop and a large screen, light and dark. */
export async function pictures(page, name) {
  if (process.env.SCREENSHOTS !== "1") return;
  for (const width of [320, 1280, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${width}-${colorScheme}`, { fullPage: true });
    }
  }
}

/** Checks that a page is readable in each size and color scheme. */
export async function look(page, name) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${size}-${colorScheme}`, { fullPage: true });
      const { width, problems } = await page.evaluate(measure);
      const where = `${name}, ${size}, ${colorScheme}`;
      assert.ok(width <= viewport.width, `${where}: it scrolls horizontally, ${width} pixels wide`);
      assert.deepEqual(problems, [], where);
    }
  }
}

// Runs in the page. Checks the contrast of text (WCAG 2, 1.4.3: 4.5:1) and that touch targets are
// large enough for a finger.
function measure() {
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = parse(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    const clear = parse(color)[3] === 0;
    return clear && element.parentElement ? background(element.parentElement) : color;
  };
  const problems = [];
  for (const element of document.body.querySelectorAll("*")) {
    const shown = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const box = element.getBoundingClientRect();
    if (box.left < 0 || box.right > innerWidth) problems.push(`${element.tagName} sticks out`);
    if (element.matches("a, button") && box.height < 44) problems.push(`${element.tagName} is ${box.height}px high`);
    if (!shown) continue;
    const { color, fontSize } = getComputedStyle(element);
    const [dark, bright] = [light(color), light(background(element))].sort((a, b) => a - b);
    const contrast = (bright + 0.05) / (dark + 0.05);
    if (contrast < 4.5) problems.push(`${element.tagName}: contrast ${contrast.toFixed(1)}`);
    if (parseFloat(fontSize) < 14) problems.push(`${element.tagName}: font size ${fontSize}`);
  }
  return { width: document.documentElement.scrollWidth, problems };
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Checks a page with axe-core, light and dark. */
export async function isAccessible(page, where = "") {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // The evaluation of the debugger is not subject to the page's policy.
    await page.evaluate(`${axe.source}; undefined`);
    // Frames have views, which have no origin. axe would send messages to them, and the browser complains about those to one that is loading.
    const { violations, passes } = await page.evaluate(async (runOnly) => {
      // What is below a bar that stays in view can be scrolled to. axe takes it for covered.
      const bars = [...document.querySelectorAll(".run, .run button")];
      for (const bar of bars) bar.style.position = "static";
      const found = await globalThis.axe.run(document, { runOnly, resultTypes: ["violations"], iframes: false });
      for (const bar of bars) bar.style.position = "";
      return found;
    }, RULES);
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
    assert.deepEqual(found, [], `${where} ${colorScheme}`);
    assert.ok(passes.length > 5, "axe has run");
  }
}
