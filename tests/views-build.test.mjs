// The build of views: each file becomes a page that needs no other file, or the build fails and says why.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { addresses, buildViews, covers } from "../packages/toolbooth/src/views.js";

/** Builds a crate with these files, and a tool with the view `chart.html` or `chart.tsx`. Returns the page. */
async function built(t, files, { file = "chart.html", csp } = {}) {
  const crate = mkdtempSync(join(tmpdir(), "views-"));
  t.after(() => rmSync(crate, { recursive: true, force: true }));
  const definition = JSON.stringify({ id: "Plot.Draw@1.0.0", ui: { file, csp } });
  for (const [name, text] of Object.entries({ "Draw@1.0.0.json": definition, ...files })) {
    const path = join(crate, "plot", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  await buildViews(crate, join(crate, "assets"));
  return readFileSync(join(crate, "assets/views/plot", file), "utf8");
}

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");

test("a page in HTML contains its scripts, styles and images", async (t) => {
  const page = await built(t, {
    "chart.html": `<!doctype html>
<!-- A note for authors: https://notes.example -->
<link rel="stylesheet" href="./chart.css"><style>b { background: url(dot.png) }</style>
<img alt="dot.png > b" src="dot.png"><a href="#top">Top</a>
<script type="application/json">{"kept": true}</script>
<script>const early = 1;</script>
<script type="module" src="./chart.ts"></script>`,
    "chart.css": "p { color: red }",
    "chart.ts": 'import { name } from "./name";\nimport { connect } from "toolbooth/view";\nconst text: string = name;\nconnect().onChange(() => (document.body.textContent = text));',
    "name.ts": 'export const name = "</script><b>";',
    "dot.png": PIXEL,
  });
  for (const part of ["<!doctype html>", "p{color:red}", "url(data:image/png;base64,iVBOR", '<img alt="dot.png > b" src="data:image/png;base64,iVBOR', '{"kept": true}', '<script type="module">', "ui/initialize"]) {
    assert.ok(page.includes(part), `${part} in ${page}`);
  }
  assert.ok(!/notes\.example|chart\.(css|ts)|"dot\.png"/.test(page), page);
  assert.equal(page.match(/<\/script>/g).length, 3, "a text with a tag does not end a script");
});

test("a component is shown with Preact, with its styles", async (t) => {
  const files = { "chart.tsx": 'import "./chart.css";\nexport default function Chart({ result }: { result: unknown }) { return <p>{String(result)}</p>; }', "chart.css": "p { color: red }" };
  const page = await built(t, files, { file: "chart.tsx" });
  assert.match(page, /^<!doctype html><html lang="en"><head>.*<style>p\{color:red\}<\/style><\/head><body><script>.*<\/script><\/body><\/html>\n$/s);
  assert.ok(Buffer.byteLength(page) < 25_000, `${Buffer.byteLength(page)} bytes`);
});

const undeclared = (address) => `uses ${address}, which ui.csp of Plot.Draw@1.0.0 does not declare; add its origin to connectDomains, resourceDomains, frameDomains or baseUriDomains`;
const beside = (reference) => `has ${reference}, which is not an image beside it; expected one, or an address that ui.csp declares`;

for (const [title, html, expected, csp] of [
  ["a script from elsewhere", '<script src="https://cdn.example/a.js"></script>', undeclared("https://cdn.example")],
  ["an address without a scheme", '<img src="//cdn.example/a.png">', undeclared("//cdn.example")],
  ["a style from elsewhere", '<link rel="stylesheet" href="https://cdn.example/a.css">', undeclared("https://cdn.example")],
  ["an import in a style", "<style>@import url(https://cdn.example/a.css);</style>", undeclared("https://cdn.example")],
  ["a request", '<script>fetch("https://api.example/data?a=1")</script>', undeclared("https://api.example")],
  ["a module from elsewhere", '<script type="module">import "https://cdn.example/a.js";</script>', undeclared("https://cdn.example")],
  ["a socket", '<script>new WebSocket("wss://api.example")</script>', undeclared("wss://api.example")],
  ["an address in parts", "<script>fetch(`https://${name}.example`)</script>", undeclared("https://${name}.example")],
  ["an address without TLS", '<script>fetch("http://api.example")</script>', undeclared("http://api.example"), { connectDomains: ["https://api.example"] }],
  ["a subdomain", '<script>fetch("https://b.api.example")</script>', undeclared("https://b.api.example"), { connectDomains: ["https://api.example"] }],
  ["the domain of a wildcard", '<script>fetch("https://api.example")</script>', undeclared("https://api.example"), { connectDomains: ["https://*.api.example"] }],
  ["an image that does not exist", '<img src="gone.png">', beside('src="gone.png"')],
  ["a file that is no image", '<iframe src="other.html"></iframe>', beside('src="other.html"')],
  ["a link to a file", '<a href="page.html">Page</a>', beside('href="page.html"')],
  ["a form", '<form action="/send"></form>', beside('action="/send"')],
  ["a page that is too large", `<p>${"x".repeat(256 * 1024)}</p>`, "has 262151 bytes as one page; the limit is 262144"],
]) {
  test(`the build refuses ${title}`, async (t) => {
    const error = await built(t, { "chart.html": html }, { csp }).catch((error) => error);
    assert.match(error.message, /plot\/chart\.html: /);
    assert.equal(error.message.split("plot/chart.html: ")[1], expected);
  });
}

for (const [title, html, file, expected] of [
  ["a script that does not parse", "<script>let = ;</script>", "chart.html", /chart\.html/],
  ["a script that does not exist", '<script src="./gone.js"></script>', "chart.html", /Could not resolve ".*gone\.js"/],
  ["a package that is not installed", 'import "no-such-package";\nexport default () => null;', "chart.tsx", /Could not resolve "no-such-package"/],
  ["a component that is not the default export", "export const Chart = () => null;", "chart.tsx", /chart\.tsx has no default export: write export default function View/],
]) {
  test(`the build reports ${title}`, async (t) => {
    const error = await built(t, { [file]: html }, { file }).catch((error) => error);
    assert.match(error.message, expected);
  });
}

test("addresses that are declared, and names of XML, are accepted", async (t) => {
  const csp = { connectDomains: ["https://*.api.example:8443"], resourceDomains: ["https://cdn.example"] };
  const page = await built(t, { "chart.html": '<script src="https://cdn.example/a.js"></script><script>fetch("https://b.api.example:8443/x"); document.createElementNS("http://www.w3.org/2000/svg", "svg")</script>' }, { csp });
  assert.ok(page.includes('<script src="https://cdn.example/a.js"></script>'));
  assert.deepEqual(addresses(page).map((address) => Object.values(csp).flat().some((origin) => covers(origin, address))), [true, true]);
});

for (const [origin, address, expected] of [
  ["https://a.example", "https://a.example", true],
  ["https://a.example", "https://a.example.evil", false],
  ["https://*.a.example", "https://b.c.a.example", true],
  ["https://*.a.example", "https://evila.example", false],
  ["https://*.a.example", "wss://b.a.example", false],
  ["https://*.a.example", "https://evil.example#.a.example", false],
  ["https://*.a.example", "https://user@b.a.example", false],
]) {
  test(`${origin} ${expected ? "covers" : "does not cover"} ${address}`, () => assert.equal(covers(origin, address), expected));
}
