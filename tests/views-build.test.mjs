// The build of views: each file becomes a page that needs no other file, or the build fails and says why.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inScript } from "../packages/toolbooth/src/page.js";
import { covers } from "../packages/toolbooth/src/view-loads.js";
import { run } from "./support/commands.mjs";
import { built } from "./support/views.mjs";

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

const undeclared = (address, lists, place = "chart.html") => `plot/${place}: uses ${address}, which ui.csp of Plot.Draw@1.0.0 does not declare for this; add it to ${lists}`;
const beside = (reference) => `plot/chart.html: has ${reference}, which is not an image beside it; expected one, or an address that ui.csp declares`;
const [CONNECT, RESOURCE, FRAME, ELEMENT] = ["connectDomains", "resourceDomains", "frameDomains", "resourceDomains or frameDomains"];
const CDN = "https://cdn.example";
const API = "https://api.example";

for (const [title, html, expected, csp] of [
  ["a script from elsewhere", '<script src="https://cdn.example/a.js"></script>', undeclared(CDN, RESOURCE)],
  ["an address without a scheme", '<img src="//cdn.example/a.png">', "plot/chart.html: uses //cdn.example, which has no scheme; write https://cdn.example"],
  ["a style from elsewhere", '<link rel="stylesheet" href="https://cdn.example/a.css">', undeclared(CDN, RESOURCE)],
  ["an import in a style", "<style>@import url(https://cdn.example/a.css);</style>", undeclared(CDN, RESOURCE)],
  ["a font in a style", "<style>@font-face { font-family: a; src: url(https://cdn.example/a.woff2) }</style>", undeclared(CDN, RESOURCE)],
  ["a background in an attribute", `<p style="background: url('https://cdn.example/a.png')"></p>`, undeclared(CDN, RESOURCE)],
  ["one image of a set", '<img srcset="https://cdn.example/a.png 1x, https://img.example/b.png 2x">', undeclared("https://img.example", RESOURCE), { resourceDomains: [CDN] }],
  ["a frame, declared for requests", `<iframe src="${API}/a"></iframe>`, undeclared(API, FRAME), { connectDomains: [API], resourceDomains: [API] }],
  ["a base", '<base href="https://cdn.example/">', undeclared(CDN, "baseUriDomains"), { resourceDomains: [CDN] }],
  ["an element that no host loads", `<object data="${CDN}/a.svg"></object>`, `plot/chart.html: uses ${CDN} in an element that no host loads; use <img>, <video> or <iframe>`, { resourceDomains: [CDN] }],
  ["a request", '<script>fetch("https://api.example/data?a=1")</script>', undeclared(API, CONNECT, "chart.html:1:9")],
  ["a request, declared for images", `<script>fetch("${API}/data")</script>`, undeclared(API, CONNECT, "chart.html:1:9"), { resourceDomains: [API] }],
  ["a request by the global object", `<p>\n<script>\nwindow.fetch("${API}/data")</script>`, undeclared(API, CONNECT, "chart.html:3:1")],
  ["a request to a path that is put together", `<script>fetch(\`${API}/data/\${Math.random()}\`)</script>`, undeclared(API, CONNECT, "chart.html:1:9")],
  ["a request to a constant", `<script>const API = "${API}"; fetch(API + "/data")</script>`, undeclared(API, CONNECT, "chart.html:1:44")],
  ["a request to a URL", `<script>fetch(new URL("/data", "${API}"))</script>`, undeclared(API, CONNECT, "chart.html:1:9")],
  ["an XMLHttpRequest", `<script>new XMLHttpRequest().open("GET", "${API}/data")</script>`, undeclared(API, CONNECT, "chart.html:1:9")],
  ["a beacon", `<script>navigator.sendBeacon("${API}/data")</script>`, undeclared(API, CONNECT, "chart.html:1:9")],
  ["a stream of events", `<script>new EventSource("${API}/data")</script>`, undeclared(API, CONNECT, "chart.html:1:9")],
  ["an image of a script", `<script>new Image().src = "${CDN}/a.png"</script>`, undeclared(CDN, ELEMENT, "chart.html:1:9")],
  ["an attribute of a script", `<script>document.body.setAttribute("src", "${CDN}/a.png")</script>`, undeclared(CDN, ELEMENT, "chart.html:1:9")],
  ["a module from elsewhere", '<script type="module">import "https://cdn.example/a.js";</script>', undeclared(CDN, RESOURCE)],
  ["a module that is loaded later", '<script>import("https://cdn.example/a.js");</script>', undeclared(CDN, RESOURCE)],
  ["a socket", '<script>new WebSocket("wss://api.example")</script>', undeclared("wss://api.example", CONNECT, "chart.html:1:9")],
  ["an address without TLS", '<script>fetch("http://api.example")</script>', undeclared("http://api.example", CONNECT, "chart.html:1:9"), { connectDomains: [API] }],
  ["another port of this machine", '<script>fetch("http://localhost:3001/")</script>', undeclared("http://localhost:3001", CONNECT, "chart.html:1:9"), { connectDomains: ["http://localhost:3000"] }],
  ["a subdomain", '<script>fetch("https://b.api.example")</script>', undeclared("https://b.api.example", CONNECT, "chart.html:1:9"), { connectDomains: [API] }],
  ["the domain of a wildcard", '<script>fetch("https://api.example")</script>', undeclared(API, CONNECT, "chart.html:1:9"), { connectDomains: ["https://*.api.example"] }],
  ["an image that does not exist", '<img src="gone.png">', beside('src="gone.png"')],
  ["a file that is no image", '<iframe src="other.html"></iframe>', beside('src="other.html"')],
  ["a link to a file", '<a href="page.html">Page</a>', beside('href="page.html"')],
  ["a form", '<form action="/send"></form>', beside('action="/send"')],
  ["a comment in a template", '<script type="text/template"><!-- <script></script>', 'plot/chart.html: has <!-- and then <script in a <script type="text/template">, which browsers do not end where it ends; write it differently'],
  ["a page that is too large", `<p>${"x".repeat(4 * 1024 * 1024)}</p>`, "plot/chart.html: has 4194311 bytes as one page; the limit is 4194304"],
]) {
  test(`the build refuses ${title}`, async (t) => {
    const error = await built(t, { "chart.html": html }, { csp }).catch((error) => error);
    assert.equal(error.message.replace(/^.*?(?=plot\/)/, ""), expected);
  });
}

for (const [title, source, expected] of [
  ["an image", '<img src="https://cdn.example/a.png" />', undeclared(CDN, RESOURCE, "chart.tsx:2:29")],
  ["an image of a constant", "<img src={`${CDN}/a.png`} />", undeclared(CDN, RESOURCE, "chart.tsx:2:29")],
  ["a frame", '<iframe src="https://cdn.example/a"></iframe>', undeclared(CDN, FRAME, "chart.tsx:2:29")],
  ["a background", '<p style={{ backgroundImage: "url(https://cdn.example/a.png)" }} />', undeclared(CDN, RESOURCE, "chart.tsx:2:29")],
  ["a request in another file", "<p>{load()}</p>", undeclared(API, CONNECT, "data.ts:1:28")],
]) {
  test(`the build refuses ${title} of a component`, async (t) => {
    const files = { "chart.tsx": `import { load } from "./data"; const CDN = "https://cdn.example";\nexport default () => (load, ${source});`, "data.ts": `export const load = () => (fetch("${API}/data"), "");` };
    if (!source.includes("load()")) files["data.ts"] = "export const load = 1;";
    const error = await built(t, files, { file: "chart.tsx" }).catch((error) => error);
    assert.equal(error.message.replace(/^.*?(?=plot\/)/, ""), expected);
  });
}

for (const [title, html, expected] of [
  ["a script that does not parse", "<script>let = ;</script>", "chart.html", /chart\.html/],
  ["a script that does not parse, at its line", "<p>\n</p>\n<script>\nlet = ;</script>", "chart.html", /chart\.html:4:/],
  ["a script that does not exist", '<script src="./gone.js"></script>', "chart.html", /Could not resolve ".*gone\.js"/],
  ["a package that is not installed", 'import "no-such-package";\nexport default () => null;', "chart.tsx", /Could not resolve "no-such-package"[^]*npm install no-such-package/],
  ["a component that is not the default export", "export const Chart = () => null;", "chart.tsx", /chart\.tsx has no default export: write export default function View/],
  ...["fs", "node:fs", "fs/promises", "node:crypto"].map((name) => [
    `the module ${name} of Node`,
    `import * as it from "${name}";\nexport default () => String(it);`,
    "chart.tsx",
    new RegExp(`Could not resolve "${name}"[^]*chart\\.tsx:1:[^]*${name} is a module of Node, and views run in browsers, which do not have it`),
  ]),
  ["what only React has", 'import { useActionState } from "react";\nexport default () => useActionState();', "chart.tsx", /for import "useActionState"[^]*views have Preact in place of React/],
  ["a part that only React has", 'import { renderToString } from "react-dom/server";\nexport default () => renderToString();', "chart.tsx", /react-dom\/server is not in views: views have Preact in place of React[^]*chart\.tsx:1:/],
  ["a renderer of React", 'import Reconciler from "react-reconciler";\nexport default () => Reconciler();', "chart.tsx", /react-reconciler is not in views: views have Preact in place of React/],
  ["a part of Preact that does not exist", 'import "preact/nothing";\nexport default () => null;', "chart.tsx", /preact\/nothing is not in views: the build brings the Preact of all of them/],
].map(([title, html, file, expected]) => [title, { html, file }, expected])) {
  test(`the build reports ${title}`, async (t) => {
    const error = await built(t, { [html.file]: html.html }, { file: html.file }).catch((error) => error);
    assert.match(error.message, expected);
    assert.doesNotMatch(error.message, /npm install (fs|node|react)/);
  });
}

for (const [title, html, csp] of [
  ["what is declared", `<script src="${CDN}/a.js"></script><script>fetch("https://b.api.example:8443/x")</script>`, { connectDomains: ["https://*.api.example:8443"], resourceDomains: [CDN] }],
  ["the default port", `<script>fetch("${API}:443/x")</script>`, { connectDomains: [API] }],
  ["this machine without TLS", '<img src="http://127.0.0.1:3000/a.png"><script>fetch("http://localhost:3000/x"); new WebSocket("ws://app.localhost:3000")</script>', { resourceDomains: ["http://127.0.0.1:3000"], connectDomains: ["http://localhost:3000", "ws://app.localhost:3000"] }],
  ["names of XML", '<script>document.createElementNS("http://www.w3.org/2000/svg", "svg")</script>'],
  ["links", `<a href="${CDN}/page">Page</a><link rel="canonical" href="${CDN}">`],
  ["addresses in texts", `<p>https://notes.example</p><script>const text = "see https://notes.example or fetch('${API}')"; document.body.append(text)</script>`],
  ["parts of addresses", "<script>const at = (host) => [`http://${host}`, 'https://' + host, /^https?:\\/\\//.test(host), '//']; document.body.append(at('a'))</script>"],
  ["addresses in comments", `<script>// fetch("${API}")\n/* ${CDN} */ document.body.append("a")</script>`],
  ["a host that a script puts together", "<script>const at = (host) => fetch(`https://${host}.example`); at(document.title)</script>"],
  ["functions with names of the browser's", `<script>{ const fetch = String; fetch("${API}") }</script>`],
  ["an open of something else", `<script>({ open: String }).open("${API}", "${CDN}")</script>`],
  ["a template with a comment", '<script type="text/template"><!-- a --> <b></b> <script></script><script type="text/x">a</script>'],
  ["addresses of data and fragments", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><svg><use href="#a"/></svg>'],
]) {
  test(`the build accepts ${title}`, (t) => built(t, { "chart.html": html }, { csp }));
}

for (const [origin, advice] of [["http://localhost:3000", "https:"], ["ws://app.localhost", "wss:"], ["http://127.0.0.1", "https:"]]) {
  test(`the build for a deployment refuses ${origin}`, async (t) => {
    const csp = { connectDomains: ["https://api.example", origin] };
    await built(t, { "chart.html": "<p>" }, { csp });
    await built(t, { "chart.html": "<p>" }, { csp: { connectDomains: ["https://api.example"] }, deployed: true });
    const error = await built(t, { "chart.html": "<p>" }, { csp, deployed: true }).catch((error) => error);
    assert.equal(error.message.replace(/^.*?(?=plot\/)/, ""), `plot/chart.html: has ${origin} in ui.csp of Plot.Draw@1.0.0, which is for development; write the address of the deployed service, with ${advice}`);
  });
}

test("the build says what views consist of, so that dev watches it", async (t) => {
  const files = {
    "chart.tsx": 'import { part } from "../parts/part.ts";\nimport "./chart.css";\nexport default () => part;',
    "../parts/part.ts": 'export { name as part } from "./name.ts";',
    "../parts/name.ts": 'export const name = "a";',
    "chart.css": "p { background: url(../parts/dot.png) }",
    "../parts/dot.png": PIXEL,
  };
  const own = ["parts/dot.png", "parts/name.ts", "parts/part.ts", "plot/chart.css", "plot/chart.tsx"];
  const found = (inputs) => inputs.filter((path) => /^(?:plot|parts)/.test(path)).sort();
  const inputs = [];
  await built(t, files, { file: "chart.tsx", inputs });
  assert.deepEqual(found(inputs), own);
  for (const [title, change, more] of [
    ["an import of nothing", { "../parts/name.ts": 'export { name } from "./gone.ts";' }, ["parts", "parts/gone.ts"]],
    ["an origin that is not declared", { "../parts/name.ts": 'export const name = fetch("https://api.example");' }, []],
  ]) {
    const inputs = [];
    await assert.rejects(built(t, { ...files, ...change }, { file: "chart.tsx", inputs }), title);
    assert.deepEqual(found([...new Set(inputs)]), [...own, ...more].sort(), title);
  }
  const page = [];
  const html = { "chart.html": '<img src="../parts/dot.png"><script src="./a.js"></script><img src="gone.png">', "a.js": "1;", "../parts/dot.png": PIXEL };
  await assert.rejects(built(t, html, { inputs: page }));
  assert.deepEqual(found(page), ["parts/dot.png", "plot/a.js", "plot/chart.html", "plot/gone.png"]);
});

test("the build refuses another React that a package names in a way of its own", async (t) => {
  const files = {
    "chart.tsx": 'import "pack";\nexport default () => null;',
    "node_modules/pack/package.json": '{"imports": {"#react": "react"}}',
    "node_modules/pack/index.js": 'import * as React from "#react";\nconsole.log(React);',
    "node_modules/react/index.js": "exports.useState = () => [];",
  };
  const error = await built(t, files, { file: "chart.tsx" }).catch((error) => error);
  assert.match(error.message, /plot\/chart\.tsx: has \S*node_modules\/react\/index\.js through one of its packages, which would be a second copy: views have Preact/);
});

test("addresses in the code of packages are texts: what they load, the policy decides", async (t) => {
  const code = 'module.exports = (host) => [fetch("https://api.example/x"), new RegExp("^https?://"), `http://${host}`, "https://github.com/a/b"];';
  const files = { "chart.tsx": 'import all from "pack";\nimport { marked } from "marked";\nimport { App } from "@modelcontextprotocol/ext-apps";\nexport default () => <p>{all("a")}{marked.parse("b")}{String(App)}</p>;', "node_modules/pack/index.js": code };
  t.mock.method(console, "error", () => {});
  const page = await built(t, files, { file: "chart.tsx", packages: ["marked", "@modelcontextprotocol/ext-apps"] });
  assert.ok(page.includes("https://github.com/a/b"));
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

// What begins or ends something else in a page, in every position of a script.
for (const [title, code, expected] of [
  ["strings", String.raw`["<!-- a", "<script src=x>", '</script>', "<SCRIPT>", "\<!--", { "<!--": 1, "<script": 2 }]`, ["<!-- a", "<script src=x>", "</script>", "<SCRIPT>", "\<!--", { "<!--": 1, "<script": 2 }]],
  ["templates", "`<!--${1}<script>${`</script>`}`", "<!--1<script></script>"],
  ["regular expressions", 'String("a<!--b<script></script>").replace(/<!--/g, "").replace(/<script>/gi, "").replace(/[</script>]/, "")', "ab/script>"],
  ["assertions in regular expressions", '["x-y", "<!--"].map((text) => [/(?<!--)y/.test(text), /[<!--]{4}/.test(text), /(?<!--)y/u.test(text)])', [[true, false, true], [false, true, false]]],
  ["names of groups", String.raw`"aa".match(/(?<script>a)\k<script>/).groups.script + "b".match(/(?<scripted>b)/u).groups.scripted`, "ab"],
  ["names", "((script, scripts) => [1<script, 1<<script, 2<scripts.length])(3, [1])", [true, 8, false]],
  ["comments", "/* <!-- <script> </script> */ 1", 1],
]) {
  test(`${title} in a page say what they said`, () => {
    const safe = inScript(code);
    assert.doesNotMatch(safe, /<!--|<\/?script/i);
    assert.deepEqual(new Function(`return ${code}`)(), expected);
    assert.deepEqual(new Function(`return ${safe}`)(), expected);
  });
}

test("views with parts of React have the types of Preact", async (t) => {
  const project = mkdtempSync(join(tmpdir(), "types-"));
  t.after(() => rmSync(project, { recursive: true }));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(fileURLToPath(new URL("../packages/toolbooth", import.meta.url)), join(project, "node_modules/toolbooth"));
  writeFileSync(join(project, "tsconfig.json"), '{ "extends": "toolbooth/tsconfig.view.json", "include": ["*.tsx"] }');
  const code = `import React, { useState } from "react";
import { createPortal } from "react-dom";
import { createRoot } from "react-dom/client";
import { useMemo } from "preact/hooks";
import type { ViewProps } from "toolbooth/view";
export default function Chart({ result }: ViewProps<unknown, { a: number }>) {
  const [count] = useState(0);
  const part = useMemo(() => React.createElement("b", null), []);
  createRoot(document.body).render(part);
  return <p>{count + 1}{createPortal(part, document.body)}{result?.a}</p>;
}
export const wrong: string = useState(0)[0];`;
  writeFileSync(join(project, "chart.tsx"), code);
  const { code: status, out } = await run(`node_modules/.bin/tsc --project ${project}`);
  assert.equal(status, 2);
  assert.match(out, /^\S*chart\.tsx\(12,14\): error TS2322: Type 'number' is not assignable to type 'string'\.$/m);
  assert.equal(out.trim().split("\n").length, 1, out);
});

test("data in a page says what it said", async (t) => {
  const data = { text: "<!-- <script>" };
  const page = await built(t, { "chart.html": `<script type="application/json" id="data">${JSON.stringify(data)}</script>` });
  const [, text] = /<script type="application\/json" id="data">(.*?)<\/script>/.exec(page);
  assert.doesNotMatch(text, /</);
  assert.deepEqual(JSON.parse(text), data);
});

for (const [title, files, expected] of [
  ["a condition that is never true", { "chart.tsx": 'export default ({ result }) => typeof result === "sting" && null;' }, /"typeof" operator will never evaluate to "sting"[^]*chart\.tsx:1:/],
  ["a style with an error", { "chart.tsx": 'import "./chart.css";\nexport default () => null;', "chart.css": "p { colour: red; color }" }, /chart\.css:1:/],
  ["a member that only React has", { "chart.tsx": 'import * as React from "react";\nexport default () => React.useOptimistic();' }, /"useOptimistic" will always be undefined[^]*views have Preact/],
  ["a package with a renderer of React", { "chart.tsx": 'import "pack";\nexport default () => null;', "node_modules/pack/index.js": 'console.log(require("react").__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE);' }, /node_modules\/pack\/index\.js: uses the internals of React, and may not work/],
  ["a large page", { "chart.tsx": `export default () => ${JSON.stringify("x".repeat(300_000))};` }, /chart\.tsx: has 3\d{5} bytes as one page, which hosts load for each call/],
]) {
  test(`the author reads a warning of ${title}`, async (t) => {
    const print = t.mock.method(console, "error", () => {});
    await built(t, files, { file: "chart.tsx" });
    assert.equal(print.mock.callCount(), 1, JSON.stringify(print.mock.calls.map(({ arguments: [text] }) => text)));
    assert.match(print.mock.calls[0].arguments[0], expected);
  });
}
