// Views tell their size also where the browser does not render them: out of view, on a slow machine.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { launch } from "./support/chromium.mjs";
import { built } from "./support/views.mjs";

/** A host that shows one view after the other at a distance from the top, and gets their sizes. */
const HOST = `<!doctype html><body style="margin: 0"><script>
const [opened, told] = [{}, []];
globalThis.show = (html, top, height) => new Promise((resolve) => {
  document.body.replaceChildren();
  const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { sandbox: "allow-scripts", height: 160 }));
  frame.style = "display: block; border: 0; margin-top: " + top + "px";
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  onmessage = ({ source, data: { id, method, params } }) => {
    if (source !== frame.contentWindow) return;
    if (method === "ui/initialize") send({ id, result: { hostContext: {} } });
    if (method === "ui/notifications/initialized") send({ method: "ui/notifications/tool-result", params: { content: [], structuredContent: { height } } });
    if (method !== "ui/notifications/size-changed") return;
    frame.height = params.height;
    if (params.height === height) resolve();
  };
  frame.srcdoc = html;
});
</script>`;

const component = (body, imports = "") => ({ "chart.tsx": `${imports}\nexport default function Chart({ result }: any) { ${body} }` });
const STYLE = "document.body.style.margin = 0;";
/** How a page gets its height after the result. */
const VIEWS = [
  ["at once", component(`${STYLE} return <div style={{ height: (result?.height ?? 20) + "px" }}>A</div>;`)],
  ["in an effect", component(`${STYLE} const [height, set] = useState(20); useEffect(() => set(result?.height ?? 20), [result]); return <div style={{ height: height + "px" }}>A</div>;`, 'import { useEffect, useState } from "preact/hooks";')],
  ["after a timer", component(`${STYLE} const [height, set] = useState(20); useEffect(() => void (result && setTimeout(() => set(result.height), 20)), [result]); return <div style={{ height: height + "px" }}>A</div>;`, 'import { useEffect, useState } from "preact/hooks";')],
  ["by a class of the document", { "chart.html": `<!doctype html><style>body { margin: 0 } div { height: 20px } .large div { height: var(--height) }</style><div>A</div><script type="module">
    import { connect } from "toolbooth/view";
    connect().onChange(({ result }) => { if (!result) return; document.documentElement.style.setProperty("--height", result.height + "px"); document.documentElement.className = "large"; });</script>` }],
  ["by an image that loads", { "chart.html": `<!doctype html><style>body { margin: 0 } img { display: block; width: 20px }</style><script type="module">
    import { connect } from "toolbooth/view";
    connect().onChange(({ result }) => { if (result) document.body.append(Object.assign(new Image(), { src: "data:image/svg+xml," + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="' + result.height + '"/>') })); });</script>` }],
];

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

for (const [index, [title, files]] of VIEWS.entries()) {
  const runs = index === 0 ? 50 : 10;
  test(`a view that grows ${title} tells its size in each of ${runs} runs, in view and out of it`, async (t) => {
    const html = await built(t, files, { file: Object.keys(files)[0] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    t.after(() => page.close());
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.setContent(HOST);
    const missing = [];
    for (let run = 0; run < runs; run += 1) {
      const top = run % 2 === 0 ? 0 : 5000;
      const shown = page.evaluate((values) => globalThis.show(...values), [html, top, 300 + run]);
      const late = new AbortController();
      // Without a size, there is nothing to wait for.
      const end = setTimeout(5_000, "late", { signal: late.signal }).catch(() => {});
      if ((await Promise.race([shown, end])) === "late") missing.push(`run ${run}, ${top} px from the top`);
      late.abort();
    }
    assert.deepEqual(missing, []);
  });
}
