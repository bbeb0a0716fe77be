// The pages of the site, without a browser: which requests get HTML, and with which headers. site-pages.test.mjs opens them.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { addressOf, assetOf, fileTags, hasTls, modeOf, prefersHtml, site as answer, tagOf, waysOf } from "../crates/toolbooth-worker/js/site.js";
import { landing } from "../site/build/pages.js";
import { root } from "./support/commands.mjs";
import { KEY, definitions, startSite } from "./support/site.mjs";
import { SAMPLES, SITE, start } from "./support/worker.mjs";

const FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const HOST = "https://tools.example.net";
/** The most bytes that the first view of a page may have after gzip. */
const BUDGET = 60 * 1024;

let site;
before(async () => {
  site = await startSite({ vars: { ALLOWED_ORIGINS: undefined } });
});
after(() => site.close());

const get = (path, headers = {}, init = {}) => site.worker.fetch(HOST + path, { headers, redirect: "manual", ...init });

test("Accept decides between HTML and JSON", () => {
  for (const [accept, html] of [
    [FIREFOX, true],
    ["text/html", true],
    ["application/json, text/html", false],
    ["application/json;q=0.5, text/html", true],
    ["text/html;q=0.4, application/json;q=0.5", false],
    ["text/html;q=0", false],
    ["TEXT/HTML", true],
    ["*/*", false],
    ["application/json", false],
    ["application/xhtml+xml", false],
    ["", false],
  ]) {
    assert.equal(prefersHtml(accept), html, accept);
  }
});

test("SITE decides which pages there are", () => {
  const ASSETS = {};
  for (const [env, mode] of [
    [{}, "off"],
    [{ SITE: "playground" }, "off"],
    [{ ASSETS }, "landing"],
    [{ ASSETS, SITE: "" }, "landing"],
    [{ ASSETS, SITE: "Playground" }, "landing"],
    [{ ASSETS, SITE: "off" }, "off"],
    [{ ASSETS, SITE: "playground" }, "playground"],
  ]) {
    assert.equal(modeOf(env), mode, JSON.stringify(env));
  }
  for (const [path, off, landing, playground] of [
    ["/", undefined, "/index.html", "/index.html"],
    ["/playground", undefined, undefined, "/playground.html"],
    ["/doctor", undefined, "/doctor.html", "/doctor.html"],
    ["/usage", undefined, "/usage.html", "/usage.html"],
    ["/signed-in", undefined, "/signed-in.html", "/signed-in.html"],
    ["/docs", undefined, "/docs.html", "/docs.html"],
    ["/docs/clients", undefined, "/docs/clients.html", "/docs/clients.html"],
    ["/docsx", undefined, undefined, undefined],
    ["/tools", undefined, undefined, undefined],
  ]) {
    assert.deepEqual([off, landing, playground], ["off", "landing", "playground"].map((mode) => assetOf(path, mode)), path);
  }
});

test("GET / is HTML for browsers and JSON for programs", async () => {
  const page = await get("/", { accept: FIREFOX });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(page.headers.get("vary"), "accept");
  assert.match(await page.text(), /<h1>Tools for agents/);
  for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
    const index = await get("/", headers);
    assert.equal(index.headers.get("content-type"), "application/json");
    assert.match(index.headers.get("vary"), /accept/);
    assert.equal((await index.json()).name, "Toolbooth");
  }
});

test("pages have a policy that allows nothing but the site's own files", async () => {
  for (const path of ["/", "/playground", "/docs", "/docs/security", "/docs/protocols/oxp-10"]) {
    const { status, headers } = await get(path, { accept: FIREFOX });
    assert.equal(status, 200, path);
    const policy = headers.get("content-security-policy");
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    assert.ok(!/unsafe|\*|https?:/.test(policy), policy);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cache-control"), "no-cache");
  }
});

test("browsers use only TLS for a server that has it, except on a developer's machine", async () => {
  for (const [address, expected] of [
    [HOST, true],
    ["http://tools.example.net", false],
    ["https://localhost:8787", false],
    ["https://127.0.0.1", false],
  ]) {
    assert.equal(hasTls(address), expected, address);
  }
  for (const path of ["/", "/playground"]) {
    const { headers } = await get(path, { accept: FIREFOX });
    assert.equal(headers.get("strict-transport-security"), "max-age=31536000", path);
  }
});

test("if the assets fail, the server answers", async (t) => {
  const lines = t.mock.method(console, "warn", () => {});
  const ASSETS = { fetch: () => Promise.reject(new Error("internal error")) };
  const reply = await answer(new Request(`${HOST}/docs`), { ASSETS }, () => new Response("next"));
  assert.equal(await reply.text(), "next");
  assert.match(lines.mock.calls[0].arguments[0], /"event":"assets"/);
});

test("a page has the server's own address", async () => {
  const text = await (await get("/", { accept: FIREFOX })).text();
  assert.ok(text.replaceAll(/<\/?span\b[^>]*>/g, "").includes(`claude mcp add --transport http toolbooth ${HOST}/mcp`));
  assert.ok(!text.includes("tools.example.com"));
});

test("a page shows PUBLIC_URL, if it is a valid address", () => {
  for (const [PUBLIC_URL, address] of [
    ["https://public.example", "https://public.example"],
    ["http://localhost:8787", "http://localhost:8787"],
    ["http://public.example", HOST],
    ["https://public.example/", HOST],
    ["https://public.example/a", HOST],
    ["public.example", HOST],
    ["", HOST],
    [undefined, HOST],
  ]) {
    assert.equal(addressOf({ PUBLIC_URL }, HOST), address, PUBLIC_URL);
  }
});

test("how callers authenticate, by AUTH", () => {
  for (const [AUTH, ways] of [
    ["none", "open"],
    ["none, api-key", "open"],
    ["api-key", "key"],
    ["sign-in", "sign-in"],
    ["sign-in,api-key", "key sign-in"],
    ["jwt", "key sign-in issuer"],
    ["", "key sign-in"],
    [undefined, "key sign-in"],
    ["other", "key sign-in"],
  ]) {
    assert.equal(waysOf({ AUTH }), ways, AUTH);
  }
});

test("the tag of a page is that of its file, SITE, AUTH and PUBLIC_URL", () => {
  const tag = tagOf('"abc"', "landing", "key sign-in", HOST);
  assert.doesNotMatch(tag, / /);
  for (const [sent, mode, ways, address, expected] of [
    [tag, "landing", "key sign-in", HOST, '"abc"'],
    [`"other", W/${tag}`, "landing", "key sign-in", HOST, 'W/"abc"'],
    [tag, "playground", "key sign-in", HOST, null],
    [tag, "landing", "open", HOST, null],
    [tag, "landing", "key sign-in", "https://public.example", null],
    ['"abc"', "landing", "key sign-in", HOST, null],
    [null, "landing", "key sign-in", HOST, null],
  ]) {
    assert.equal(fileTags(sent, mode, ways, address), expected, `${sent} ${mode} ${ways} ${address}`);
  }
});

test("the first page has a tab for each client, and no code for a server on the reader's machine", () => {
  const clients = join(root, "docs/CLIENTS.md");
  const assets = { style: "", script: "" };
  const page = landing(clients, assets);
  const names = [...page.matchAll(/data-client="([^"]*)"/g)].map(([, name]) => name);
  assert.ok(names.length > 8 && names.includes("Claude Code") && names.includes("curl"), names.join());
  assert.ok(!names.some((name) => /OAuth|the user/.test(name)), names.join());
  const code = [...page.matchAll(/<pre[^]*?<\/pre>/g)].join();
  assert.ok(code.includes("https://tools.example.com/mcp") && !code.includes("localhost:8787") && !page.includes("development-key"));
  // Servers have other tools than the samples.
  const samples = definitions("tests/samples").flatMap(({ id, name }) => [id.split("@")[0], name]);
  assert.deepEqual(samples.filter((sample) => page.includes(sample)), []);
  assert.match(page, /id="placeholder-call">[\s\S]*TOOL_ID[\s\S]*Replace <code>TOOL_ID/);
  const folder = mkdtempSync(join(tmpdir(), "clients-"));
  try {
    const renamed = join(folder, "CLIENTS.md");
    writeFileSync(renamed, readFileSync(clients, "utf8").replace("## OAuth with an issuer of your own", "## OAuth"));
    assert.throws(() => landing(renamed, assets), /no section "OAuth with/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a page that has not changed is not sent again", async () => {
  const { headers } = await get("/playground");
  const etag = headers.get("etag");
  assert.ok(etag);
  const again = await get("/playground", { "if-none-match": etag });
  assert.equal(again.status, 304);
  assert.equal(again.headers.get("etag"), etag);
  assert.ok(again.headers.get("content-security-policy"));
  const vars = { SITE: "landing", PUBLIC_URL: "https://public.example" };
  const worker = await start(SAMPLES, { site: true, vars });
  try {
    const first = await get("/", { accept: FIREFOX });
    const other = await worker.fetch(`${HOST}/`, { headers: { accept: FIREFOX, "if-none-match": first.headers.get("etag") } });
    assert.equal(other.status, 200);
    const text = await other.text();
    assert.ok(text.includes('data-site="landing"') && text.includes("https://public.example/mcp") && !text.includes(HOST));
  } finally {
    await worker.close();
  }
});

test("HEAD has no body", async () => {
  const head = await get("/", { accept: FIREFOX }, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});

test("an unknown address is a page for browsers, and an error in JSON for programs", async () => {
  for (const path of ["/index.html", "/playground.html", "/not-found.html", "/docs/nowhere", "/docs/../tools.html", "/site.html", "/playground/view.html", "/views/weather/forecast.tsx", "/mcp/nowhere"]) {
    for (const [accept, type] of [[FIREFOX, "text/html; charset=utf-8"], ["*/*", "application/json"], [undefined, "application/json"]]) {
      const { status, headers } = await get(path, accept && { accept });
      const got = [status, headers.get("content-type"), headers.get("etag"), (headers.get("vary") ?? "").includes("accept")];
      assert.deepEqual(got, [404, type, null, true], `${path}, ${accept}`);
    }
  }
  const page = await get("/nowhere", { accept: FIREFOX, "if-none-match": "*" });
  assert.match(page.headers.get("content-security-policy"), /default-src 'none'/);
  assert.match(await page.text(), /There is no such page[^]*<a href="\/">Overview/);
  const head = await get("/nowhere", { accept: FIREFOX }, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [404, ""]);
  assert.equal((await get("/", {}, { method: "POST" })).status, 405);
  const post = await get("/nowhere", { accept: FIREFOX }, { method: "POST" });
  assert.deepEqual([post.status, post.headers.get("content-type")], [404, "application/json"]);
});

test("other errors than 404, and pages of the server itself, are sent as they are", async () => {
  const ASSETS = { fetch: () => Promise.resolve(new Response("page")) };
  for (const [status, type] of [[403, "application/json"], [200, "application/json"], [404, "text/html; charset=utf-8"]]) {
    const next = () => new Response("next", { status, headers: { "content-type": type } });
    const reply = await answer(new Request(`${HOST}/somewhere`, { headers: { accept: FIREFOX } }), { ASSETS }, next);
    assert.deepEqual([reply.status, await reply.text()], [status, "next"]);
  }
});

test("a slash at the end leads to the page", async () => {
  for (const path of ["/docs", "/playground", "/docs/security"]) {
    const { status, headers } = await get(`${path}/`, { accept: FIREFOX });
    assert.deepEqual([status, headers.get("location")], [308, path]);
  }
  const { status, headers } = await get("/docs/security///?a=1&b=2", { accept: FIREFOX });
  assert.deepEqual([status, headers.get("location"), headers.get("cache-control")], [308, "/docs/security?a=1&b=2", "no-cache"]);
  assert.equal((await get("/tools/", { accept: FIREFOX })).status, 404);
});

test("scripts and styles are cached for good", async () => {
  const text = await (await get("/", { accept: FIREFOX })).text();
  const [, script] = /<script type="module" src="(\/site\/[\w-]+\.js)">/.exec(text);
  const reply = await get(script);
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get("cache-control"), /immutable/);
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
  assert.equal((await get("/site/icon.svg")).headers.get("cache-control"), "public, max-age=86400");
  // A browser that asks for a file between two deployments must get it later.
  const missing = await get("/site/nothing.js");
  assert.deepEqual([missing.status, missing.headers.get("cache-control")], [404, null]);
});

test("over TLS, pages of the server's own origin may call it, and no others", async () => {
  const call = (origin) =>
    site.worker.fetch(`${HOST}/tools/call`, {
      method: "POST",
      headers: { origin, "content-type": "application/json", authorization: `Bearer ${KEY}` },
      body: '{"tool_id":"Calculator.Add","input":{"a":1,"b":2}}',
    });
  assert.equal((await (await call(HOST)).json()).value, 3);
  assert.equal((await call("https://evil.example")).status, 403);
  assert.equal((await call(HOST.replace("https", "http"))).status, 403);
});

test("the tools are only listed for those who may call them", async () => {
  assert.equal((await get("/tools")).status, 401);
  assert.equal((await get("/tools", { authorization: `Bearer ${KEY}` })).status, 200);
});

for (const [SITE, landing, playground] of [["off", 404, 404], ["landing", 200, 404], [undefined, 200, 404], ["nonsense", 200, 404]]) {
  test(`SITE=${SITE}: no playground`, async () => {
    const worker = await start(SAMPLES, { site: true, vars: { SITE } });
    const fetched = (path) => worker.fetch(HOST + path, { headers: { accept: FIREFOX } });
    assert.equal((await fetched("/playground")).status, playground);
    const first = await fetched("/");
    const isHtml = first.headers.get("content-type").startsWith("text/html");
    assert.equal(isHtml, landing === 200);
    if (isHtml) assert.match(await first.text(), /data-site="landing"/);
    const warned = (await worker.logs({ warnings: true })).some(({ message }) => message.includes("SITE must be"));
    assert.equal(warned, SITE === "nonsense");
    await worker.close();
  });
}

test("without assets, nothing changes", async () => {
  const worker = await start(SAMPLES, { vars: { SITE: "playground" } });
  const reply = await worker.fetch(`${HOST}/`, { headers: { accept: FIREFOX } });
  assert.equal(reply.headers.get("content-type"), "application/json");
  assert.ok(!(reply.headers.get("vary") ?? "").includes("accept"));
  await worker.close();
});

/** The files of the pages. The frame of views, and views themselves, are pages of their own kind: views.test.mjs has their tests. */
function pageFiles(folder) {
  const isPage = (file) => file.endsWith(".html") && file !== "playground/view.html" && !file.startsWith("views/");
  return readdirSync(folder, { recursive: true }).filter(isPage);
}

test("the first view of each page is within the budget", () => {
  const folder = join(root, SITE);
  const size = (path) => gzipSync(readFileSync(join(folder, path)), { level: 9 }).length;
  const loaded = (path, found = new Set()) => {
    if (found.has(path)) return found;
    found.add(path);
    const text = readFileSync(join(folder, path), "utf8");
    const [html, script] = [/(?:href|src)="(\/site\/[^"]+)"/g, /(?:from|import)"\.\/([^"]+)"/g];
    for (const [, next] of text.matchAll(path.endsWith(".html") ? html : script)) loaded(path.endsWith(".html") ? next.slice(1) : `site/${next}`, found);
    return found;
  };
  for (const page of pageFiles(folder)) {
    const files = [...loaded(page)];
    const total = files.reduce((sum, path) => sum + size(path), 0);
    assert.ok(files.length >= 3 && total <= BUDGET, `${page}: ${total} bytes, ${files}`);
  }
});

test("links between pages lead somewhere, and no two elements of a page have the same id", () => {
  const folder = join(root, SITE);
  const pages = new Map();
  for (const file of pageFiles(folder)) {
    const text = readFileSync(join(folder, file), "utf8");
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(ids.filter((id, at) => ids.indexOf(id) !== at), [], file);
    assert.equal(text.match(/<h1/g)?.length, 1, file);
    const links = [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href]) => href);
    pages.set(file === "index.html" ? "/" : `/${file.replace(/\.html$/, "")}`, { ids, links });
  }
  assert.ok(pages.size > 20, `${pages.size} pages`);
  for (const [path, { links }] of pages) {
    for (const { pathname, hash } of links.map((href) => new URL(href, HOST + path)).filter(({ origin }) => origin === HOST)) {
      if (["/tools", "/health", "/openapi.json", "/llms.txt"].includes(pathname)) continue;
      const target = pages.get(pathname);
      assert.ok(target, `${path} links to ${pathname}`);
      assert.ok(hash === "" || target.ids.includes(decodeURIComponent(hash.slice(1))), `${path} links to ${pathname}${hash}`);
    }
  }
});

test("the contents of the documentation describe each page with a sentence", () => {
  const text = readFileSync(join(root, SITE, "docs.html"), "utf8");
  const sentences = [...text.matchAll(/<li><a [^>]*>([^<]*)<\/a><p>([^<]*)<\/p>/g)].map(([, title, sentence]) => `${title}: ${sentence}`);
  assert.ok(sentences.length > 20, `${sentences.length} pages`);
  assert.deepEqual(sentences.filter((one) => !/: (?:[A-Z]\w*,?|\d+|\/\w+) .*\.$/.test(one)), []);
});

test("no page has inline scripts, inline styles or addresses of others in its head", () => {
  const folder = join(root, SITE);
  for (const page of pageFiles(folder)) {
    const text = readFileSync(join(folder, page), "utf8");
    assert.ok(!/<script(?![^>]*\ssrc=)|<style|<[^>]*\s(?:style|on\w+)=/.test(text), page);
    assert.ok(!/(?:src|<link[^>]*href)="(?!\/site\/)/.test(text), page);
  }
});
