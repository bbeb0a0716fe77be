// A stand-in for the OAuth providers of the tools, so that the flow in which users authorize tools works without any of
// them. It also answers in place of the services that the tools call: with the recorded responses of their examples, or with what
// the author of the tools writes. Its tokens are worthless elsewhere.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as github from "./github.js";
import { PRESETS } from "./presets.js";
import { Failure } from "./process.js";
import { recorded } from "./recorded.js";

const CLIENT = "development";

/** The service that `DEV_PROVIDER` chooses: the services of these definitions, or the module at a path. */
export async function serviceOf(value, definitions = []) {
  if (value === "1") return servicesOf(definitions);
  if (!existsSync(value)) throw new Failure(`DEV_PROVIDER must be 1 or the path of a module, not ${value}`, 2);
  const { variables, default: answer } = await import(pathToFileURL(resolve(value)));
  if (!Array.isArray(variables) || typeof answer !== "function") {
    throw new Failure(`${value} must export a list \`variables\` and, as its default, a function that answers requests`, 2);
  }
  return { variables, default: answer };
}

/** GitHub's issues, which can be created, and what the examples of tools have recorded. */
function servicesOf(definitions) {
  const { variables, pathOf, default: replay } = recorded(definitions);
  const prefix = pathOf(github.variables[0]);
  const answer = async (request) => {
    const url = new URL(request.url);
    if (!url.pathname.startsWith(`${prefix}/`)) return (await replay(request)) ?? missing();
    url.pathname = url.pathname.slice(prefix.length);
    const response = await github.default(new Request(url, request.clone()));
    return response.status === 404 && !github.isMissing(url.pathname) ? ((await replay(request)) ?? response) : response;
  };
  return { variables: [...new Set([...github.variables, ...variables])], pathOf, default: answer };
}

const missing = () => Response.json({ message: "The stand-in has no recorded response to this request: the example of a tool can have one" }, { status: 404 });

/**
 * Starts the provider on this machine. `vars` configures a Worker at `address` that uses it for the providers `ids`, and
 * `services` has the variables with which its tools call the service here.
 */
export async function standIn(ids, address, service = servicesOf([])) {
  const [codes, tokens, renewals] = [new Map(), new Set(), new Set()];
  const respond = async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const [, id] = /^\/([^/]+)\/authorize$/.exec(pathname) ?? [];
    if (id !== undefined) return authorize(id, searchParams, codes, address);
    if (pathname === "/token" && request.method === "POST") return token(new URLSearchParams(await request.text()), codes, tokens, renewals);
    const [, sent] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    if (!tokens.has(sent)) return Response.json({ message: "The stand-in has not issued this token" }, { status: 401 });
    return service.default(request);
  };
  const server = createServer(async (incoming, outgoing) => {
    const request = requestOf(incoming);
    const response = request ? await respond(request).catch((error) => {
      console.error(`The stand-in provider: ${error.stack}`);
      return new Response(null, { status: 500 });
    }) : new Response(null, { status: 400 });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const vars = {
    OAUTH_PROVIDERS: ids.join(","),
    PUBLIC_URL: address,
    GRANT_KEYS: `development:${randomBytes(32).toString("base64")}`,
  };
  for (const id of ids) {
    const name = `OAUTH_${id.toUpperCase().replaceAll("-", "_")}`;
    vars[`${name}_CLIENT_ID`] = CLIENT;
    vars[`${name}_AUTHORIZE_URL`] = `${base}/${id}/authorize`;
    vars[`${name}_TOKEN_URL`] = `${base}/token`;
    vars[`${name}_TITLE`] = titleOf(id);
  }
  const services = Object.fromEntries(service.variables.map((name) => [name, `${base}${service.pathOf?.(name) ?? ""}`]));
  return { base, vars, services, close: () => server.close() };
}

/** The request, if it is one that `fetch` could send: not TRACE, for example. */
function requestOf(incoming) {
  const { method, url, headers } = incoming;
  const body = method === "GET" || method === "HEAD" ? {} : { body: incoming, duplex: "half" };
  try {
    return new Request(`http://localhost${url}`, { method, headers, ...body });
  } catch {
    return undefined;
  }
}

const titleOf = (id) => `${PRESETS[id] ?? id} (stand-in)`;

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --line: #6b7078; --accent: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #222528; --line: #a3a9b1; --accent: #7cacf8 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { box-sizing: border-box; max-width: 30rem; margin: 10vh auto; padding: 1rem }
a { display: block; margin-top: .75rem; padding: .6875rem; border: 1px solid var(--line); border-radius: .5rem; color: var(--ink); text-align: center; text-decoration: none }
a.primary { border-color: var(--accent); background: var(--accent); color: var(--paper); font-weight: 600 }
a:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px }`;

/** The page on which the user agrees or refuses. */
function authorize(id, query, codes, address) {
  // Any other address would get the code.
  const callback = `${address}/auth/callback/`;
  if (!query.get("redirect_uri")?.startsWith(callback)) return new Response(`redirect_uri must start with ${callback}`, { status: 400 });
  const target = (answer) => {
    const url = new URL(query.get("redirect_uri"));
    for (const [name, value] of Object.entries({ ...answer, state: query.get("state") })) url.searchParams.set(name, value);
    return escape(url.href);
  };
  const code = randomUUID();
  codes.set(code, query.get("code_challenge"));
  const title = escape(titleOf(id));
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
<p>The real provider would ask you to sign in and to agree here. This page is part of the development server on your machine, and uses no account.</p>
<p>Requested permissions: ${escape(query.get("scope") || "none")}</p>
<p><a class="primary" href="${target({ code })}">Allow</a> <a href="${target({ error: "access_denied" })}">Deny</a></p>
</main>
</html>
`;
  return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
}

/** The response to a request for tokens: by a code, once, or by a refresh token that was issued. */
function token(form, codes, tokens, renewals) {
  const code = form.get("code");
  const verifier = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
  const valid = (form.get("grant_type") === "refresh_token" && renewals.has(form.get("refresh_token"))) || (codes.has(code) && codes.get(code) === verifier);
  codes.delete(code);
  const headers = { "cache-control": "no-store" };
  if (!valid) return Response.json({ error: "invalid_grant" }, { status: 400, headers });
  const [access_token, refresh_token] = [randomUUID(), randomUUID()];
  tokens.add(access_token);
  renewals.add(refresh_token);
  return Response.json({ access_token, token_type: "bearer", expires_in: 3600, refresh_token }, { headers });
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]);
