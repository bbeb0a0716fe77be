// The first page and the playground.
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { escape, layout } from "./layout.js";
import { codeBlock, render, resolver, sectionsOf, slug, withTitles } from "./markdown.js";
import { byWay, wayMark } from "./ways.js";

/** The sections of CLIENTS.md that are not about a client. */
const NOT_CLIENTS = ["OAuth with an issuer of your own", "Tools that need the user"];
/** Code for a server on the reader's own machine. */
const LOCAL_CODE = /^```\w*\n(?:(?!```).*\n)*?.*localhost:8787.*\n(?:(?!```).*\n)*```\n+/gm;

/** The client whose section calls a tool. */
const CALLER = "curl and programs";
const CALL = /^```sh\n.*?^```\n/ms;

/** A section of CLIENTS.md. Its call is of a sample tool, so it gets placeholders; the page's script hides it if it has a call of the server's own. */
function panel(title, text, resolve) {
  const html = (markdown) => byWay(markdown.replaceAll(LOCAL_CODE, "").replaceAll(/^(#+) /gm, "#$1 "), (part) => render(part, resolve));
  if (title !== CALLER) return html(text);
  const [call] = CALL.exec(text);
  const code = call.replace(/"tool_id": ".*?", "input": \{.*?\}/, '"tool_id": "TOOL_ID", "input": {}');
  if (code === call) throw new Error(`The section "${CALLER}" calls no tool`);
  const placeholder = html(`${code}\nReplace \`TOOL_ID\` with the id of a tool, and \`{}\` with its input.`);
  const rest = html(text.replace(CALL, ""));
  return { html: `<div id="first-call"></div><div id="placeholder-call">${placeholder.html}</div>${rest.html}`, way: placeholder.way };
}

/** The addresses of links to other files in the folder of the documentation. */
const resolverOf = (folder) => resolver(new Map(readdirSync(folder).map((name) => [`docs/${name}`, `/docs/${basename(name, ".md").toLowerCase()}`])));

export function landing(clients, assets) {
  const resolve = resolverOf(dirname(clients));
  const all = sectionsOf(withTitles(readFileSync(clients, "utf8"), dirname(clients)));
  const missing = NOT_CLIENTS.find((name) => all.every(({ title }) => title !== name));
  if (missing !== undefined) throw new Error(`${basename(clients)} has no section "${missing}"`);
  const sections = all.filter(({ title }) => title !== "" && !NOT_CLIENTS.includes(title));
  const panels = sections.map(({ title, text }) => {
    const name = shortName(title);
    const { html, way } = panel(title, text, resolve);
    return `<section data-client="${escape(name)}"${wayMark(way)}><h3>${escape(title)}</h3>${html}</section>`;
  });
  const main = `
<div class="hero">
<h1>Tools for agents, models and programs</h1>
<p class="lead">This server offers tools over MCP and other tool-calling protocols. Its tools are written once and compiled into one Worker.</p>
<p class="actions"><a class="button" href="/playground" data-needs="playground">Try the tools</a> <a class="button secondary" href="#connect">Connect a client</a></p>
<p class="soft address">Address for MCP clients</p>
${codeBlock("https://tools.example.com/mcp")}
</div>
<section aria-labelledby="tools">
<h2 id="tools">Tools</h2>
<div id="tool-list"><p>The list is at <a href="/tools">/tools</a>, as JSON. If the server requires credentials, so does the list.</p></div>
</section>
<section aria-labelledby="connect">
<h2 id="connect">Connect</h2>
<p data-way="sign-in">Clients that support sign-in need only the address: they open a page of this server, where you sign in and agree.</p>
<p data-way="key">The examples take your API key from the environment variable <code>TOOLBOOTH_KEY</code>.</p>
<p data-way="open">This server needs no credentials.</p>
<div id="client-tabs"></div>
<div id="clients" class="prose">${panels.join("\n")}</div>
</section>
<section aria-labelledby="more">
<h2 id="more">For programs</h2>
<ul class="links">
<li><a href="/tools"><code>/tools</code></a> lists the tools with their JSON Schemas, <a href="/openapi.json"><code>/openapi.json</code></a> describes them for OpenAPI, and <a href="/llms.txt"><code>/llms.txt</code></a> for models.</li>
<li><a href="/health"><code>/health</code></a> reports whether calls can be served.</li>
<li><a href="/doctor"><code>/doctor</code></a> reports what each client still needs to connect.</li>
<li><code>GET /</code> with <code>Accept: application/json</code> lists every protocol and its endpoints.</li>
<li><a href="/docs/protocols">Protocols</a> and <a href="/docs">all other documentation</a>.</li>
</ul>
</section>`;
  return layout({ title: "Toolbooth", description: "Tools for agents, models and programs, over MCP and other protocols.", current: "/", main, header: '<div id="credentials"></div>', ...assets });
}

/** What the client is called on its tab. */
const shortName = (title) => title.split(/, | and /)[0].replace("Clients of ", "");

export function playground(assets) {
  const main = `<div id="app"><h1>Playground</h1><noscript><div class="notice"><p>The playground calls tools from this page, which needs JavaScript. Without it, use <a href="/#connect">curl or a client</a>.</p></div></noscript></div>`;
  return layout({ title: "Playground · Toolbooth", description: "Call the tools of this server from a form.", current: "/playground", main, header: '<div id="credentials"></div>', wide: true, ...assets });
}

/**
 * The page in which the playground shows the view of a tool: it becomes the page that the playground sends. Its policy lets no script of
 * the server run in it, so it has its own.
 */
export const view = () => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>View of a tool</title>
</head>
<body>
<script>
// No directive that browsers know is about WebRTC, which could send data anywhere. The view keeps this window, without these.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Object.defineProperty(globalThis, name, { value: undefined });
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  document.open();
  document.write(data.html);
  document.close();
}, { once: true });
parent.postMessage({ isReady: true }, "*");
</script>
</body>
</html>
`;

/** The section of GATEWAY.md with a part for each coding agent, and its last part, which is about all of them. */
const AGENTS = "Coding agents";
const TESTED = "What is tested";

/** What to paste into each coding agent. */
function agents(gateway) {
  const resolve = resolverOf(dirname(gateway));
  const section = sectionsOf(withTitles(readFileSync(gateway, "utf8"), dirname(gateway))).find(({ title }) => title === AGENTS);
  if (section === undefined) throw new Error(`${basename(gateway)} has no section "${AGENTS}"`);
  const [, ...parts] = section.text.replaceAll("](#", `](${basename(gateway)}#`).split(/^### /m);
  const panels = parts.filter((part) => !part.startsWith(`${TESTED}\n`)).map((part) => {
    const [title, lines] = [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n"))];
    return `<details><summary>${escape(title)}</summary><div class="prose">${render(lines, resolve)}</div></details>`;
  });
  return panels.join("\n");
}

export function doctor(gateway, assets) {
  const main = `
<div class="hero">
<h1>Doctor</h1>
<p class="lead">Can Claude, ChatGPT and other clients connect to this server? If one cannot, this page says why, and what to change.</p>
</div>
<div id="report"><p>This page fetches the report with JavaScript. Programs get it as JSON:</p>${codeBlock("curl https://tools.example.com/doctor")}</div>
<section id="agents" aria-labelledby="coding-agents" hidden>
<h2 id="coding-agents">Coding agents with any model</h2>
<p>These lines connect an agent to the models of this server. Each needs a key with the scope <code>gateway</code>, in the environment variable <code>TOOLBOOTH_KEY</code>; the documentation says <a href="/docs/gateway#models">how models are named</a> and <a href="/docs/gateway#${slug(TESTED)}">what of this is tested</a>.</p>
${agents(gateway)}
</section>`;
  return layout({ title: "Doctor · Toolbooth", description: "Which clients can connect to this server, and what the others need.", current: "/doctor", main, ...assets });
}

export function usage(assets) {
  const main = `
<div class="hero">
<h1>Usage</h1>
<p class="lead">How much of your budgets and those of your team is used, and what you have used on each day. With the scope <code>usage</code>, you see all callers.</p>
</div>
<div id="usage"><p>This page fetches the figures with JavaScript. Programs get them as JSON:</p>${codeBlock('curl https://tools.example.com/usage -H "Authorization: Bearer $TOOLBOOTH_KEY"')}</div>`;
  return layout({ title: "Usage · Toolbooth", description: "The budgets of callers, and what they have used.", current: "/usage", main, header: '<div id="credentials"></div>', ...assets });
}

/** The end of a sign-in, in its window. */
export function signedIn(assets) {
  const main = `<div class="notice wide"><h1>Please return to the other window</h1><p>You can close this one.</p></div>`;
  return layout({ title: "Sign-in · Toolbooth", description: "The end of a sign-in.", current: "", main, ...assets });
}

/** What browsers get at addresses that do not exist. */
export function notFound({ style }) {
  const main = `
<div class="notice wide">
<h1>There is no such page</h1>
<p>Check the address, or start at one of these:</p>
<ul class="links">
<li><a href="/">Overview</a>: the tools of this server, and how to connect a client</li>
<li data-needs="playground"><a href="/playground">Playground</a>: call a tool from a form</li>
<li><a href="/docs">Documentation</a>, with search</li>
</ul>
</div>`;
  return layout({ title: "Not found · Toolbooth", description: "There is no such page.", current: "", main, style });
}
