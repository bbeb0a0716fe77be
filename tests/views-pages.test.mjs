// Pages of views in a browser: what their scripts contain, and which packages they use.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./support/chromium.mjs";
import { built } from "./support/views.mjs";

/** A host that accepts every view, then sends it a result. */
const HOST = `<!doctype html><body><script>
globalThis.show = (html, result) => new Promise((resolve) => {
  const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { sandbox: "allow-scripts" }));
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ data: { id, method } }) => {
    if (method === "ui/initialize") send({ id, result: { hostContext: {} } });
    if (method === "ui/notifications/initialized") {
      send({ method: "ui/notifications/tool-result", params: result });
      send({ id: "end", method: "ping" });
    }
    if (id === "end") resolve();
  });
  frame.srcdoc = html;
});
</script>`;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const RESULT = { content: [], structuredContent: { a: 1 } };

/** Shows a page, and returns the locator of its body once it has got the result. It must not throw. */
async function shown(t, html) {
  const page = await browser.newPage();
  t.after(() => page.close());
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.setContent(HOST);
  const failed = page.waitForEvent("pageerror").catch(() => {});
  await Promise.race([page.evaluate((values) => globalThis.show(...values), [html, RESULT]), failed]);
  assert.deepEqual(errors, []);
  return page.frameLocator("iframe").locator("body");
}

const component = (body, imports = "") => ({ "chart.tsx": `${imports}\nexport default function Chart({ result }: any) { ${body} }` });

for (const [title, files, expected] of [
  ["a comment and a tag in strings", component('const t = "<!-- start"; const s = "<script src=x>"; return <p>{t}{s}A{result?.a}</p>;'), "<!-- start<script src=x>A1"],
  ["a comment and a tag in regular expressions", component('return <p>{"a<!--b<script>".replace(/<!--/g, "").replace(/<script>/g, "")}{result?.a}</p>;'), "ab1"],
  ["an end of a script in a class of a regular expression", component('return <p>{"a</script>".replace(/[</script>]+/, "")}{result?.a}</p>;'), "a1"],
  ["a comment and a tag in text", component("return <p>&lt;!-- &lt;script&gt;{result?.a}</p>;"), "<!-- <script>1"],
  ["a comment and a tag in raw templates", component("const name = 1; return <p>{String.raw`\\u<!--${name}<script>`}{`<!-- ${name} <SCRIPT>`}{result?.a}</p>;"), "\\u<!--1<script><!-- 1 <SCRIPT>1"],
  ["a comment and a tag in comments and names", component("/*! <!-- <script> */ const script = globalThis.origin; return <p>{String(1<script)}{/(?<script>a)(?<!--)/.exec('a')!.groups!.script}{result?.a}</p>;"), "falsea1"],
  ["a comment and a tag in JSON", { ...component("return <p>{data.a}{result?.a}</p>;", 'import data from "./data.json";'), "data.json": '{"a": "<!-- <script>"}' }, "<!-- <script>1"],
]) {
  test(`a page with ${title} is shown`, async (t) => {
    const body = await shown(t, await built(t, files, { file: "chart.tsx" }));
    await body.getByText(expected, { exact: true }).waitFor();
  });
}

test("a page in HTML with comments and tags in scripts and data is shown", async (t) => {
  const html = `<!doctype html><body><p></p><script type="application/json">["<!-- <script>"]</script>
<script>const text = "<!-- <script>";</script><script type="module">
  const data = JSON.parse(document.querySelector("[type='application/json']").textContent);
  document.querySelector("p").textContent = data + "<!-- <script>".length + /<!--/.test("<!--");
</script><script type="module">import { connect } from "toolbooth/view"; connect();</script>`;
  const body = await shown(t, await built(t, { "chart.html": html }));
  await body.getByText("<!-- <script>13true", { exact: true }).waitFor();
});

/** A package that must not be in the page. */
const OTHER = 'throw new Error("another copy");';
const COPIES = Object.fromEntries(
  ["node_modules/", "node_modules/icons/node_modules/"].flatMap((folder) =>
    ["react/index.js", "react/jsx-runtime.js", "react-dom/index.js", "react-dom/client.js", "preact/index.js", "preact/hooks/index.js", "preact/compat/index.js"].map((file) => [folder + file, OTHER]),
  ),
);
const HOOKS = "const [n, set] = useState(0); useEffect(() => set(5), []);";
const ICONS = {
  esm: 'import { createElement, forwardRef, useContext, createContext } from "react"; const Size = createContext(7); export const Icon = forwardRef((props, ref) => createElement("i", { ref, className: "icon" }, "icon" + useContext(Size)));',
  cjs: 'var React = require("react"); var ReactDOM = require("react-dom"); var jsx = require("react/jsx-runtime"); exports.Icon = function () { var state = React.useState("icon7"); React.useLayoutEffect(function () { ReactDOM.flushSync(function () {}); }); return jsx.jsx("i", { children: state[0] }); };',
  interop: '"use strict"; var __importDefault = (mod) => (mod && mod.__esModule ? mod : { default: mod }); Object.defineProperty(exports, "__esModule", { value: true }); const react_1 = __importDefault(require("react")); exports.Icon = class extends react_1.default.Component { render() { return react_1.default.createElement("i", null, "icon7"); } };',
  preact: 'import { h } from "preact"; import { useState } from "preact/hooks"; export const Icon = () => h("i", null, useState("icon7")[0]);',
};

for (const [title, files, expected] of [
  ["hooks of React", component(`${HOOKS} return <p>n{n}A{result?.a}</p>;`, 'import { useState, useEffect } from "react";'), "n5A1"],
  ["hooks of React, by its default", component(`const { useState, useEffect } = React; ${HOOKS} return <p>n{n}A{result?.a}</p>;`, 'import React from "react";'), "n5A1"],
  ["hooks of React and of Preact", component(`${HOOKS} return <p>n{n}A{result?.a}</p>;`, 'import { useState } from "react"; import { useEffect } from "preact/hooks";'), "n5A1"],
  ["JSX of React", component(`${HOOKS} return <p className="a">n{n}A{result?.a}</p>;`, '/** @jsxImportSource react */ import { useState, useEffect } from "react";'), "n5A1"],
  ["a portal of React", component("return <p>portal{createPortal(<b>B</b>, document.body)}A{result?.a}</p>;", 'import { createPortal } from "react-dom";'), "portalA1"],
  ...Object.entries(ICONS).map(([kind, code]) => [
    `a package with its own copy, ${kind}`,
    { ...component(`${HOOKS} return <p><Icon />n{n}A{result?.a}</p>;`, 'import { useState, useEffect } from "preact/hooks"; import { Icon } from "icons";'), "node_modules/icons/index.js": code },
    "icon7n5A1",
  ]),
]) {
  test(`a page with ${title} has one Preact`, async (t) => {
    const body = await shown(t, await built(t, { ...COPIES, ...files }, { file: "chart.tsx" }));
    await body.getByText(expected).waitFor();
  });
}

test("a page in HTML may render with React", async (t) => {
  const html = `<!doctype html><body><main></main><script type="module">
    import { createElement, useState } from "react";
    import { createRoot } from "react-dom/client";
    import { connect } from "toolbooth/view";
    connect();
    createRoot(document.querySelector("main")).render(createElement(() => "root" + useState(3)[0]));
  </script>`;
  const body = await shown(t, await built(t, { ...COPIES, "chart.html": html }));
  await body.getByText("root3", { exact: true }).waitFor();
});
