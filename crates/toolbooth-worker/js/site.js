// Serves the pages of the site, which are static assets. Scripts and styles are served without the Worker.

// The pages run scripts and styles of their own origin only. `data:` is for images and audio that tools return.
const DIRECTIVES = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];
const POLICY = DIRECTIVES.join("; ");

/** The page in which the playground shows the view of a tool. */
const VIEW = "/playground/view.html";
/** What a view may use at most. The playground adds the policy of the view itself. */
const USED = "data: blob: https: http://localhost:* http://127.0.0.1:*";
const POLICIES = {
  // A view may go to no other page, which could take data along.
  "/playground.html": [...DIRECTIVES, "frame-src 'self'"].join("; "),
  // Also if the page is opened without the frame: it has no origin, so it reads nothing of the server's pages.
  [VIEW]: [
    "sandbox allow-scripts",
    "default-src 'none'",
    `script-src 'unsafe-inline' ${USED}`,
    `style-src 'unsafe-inline' ${USED}`,
    `img-src ${USED}`,
    `font-src ${USED}`,
    `media-src ${USED}`,
    `connect-src ${USED} wss: ws://localhost:* ws://127.0.0.1:*`,
    "frame-src https:",
    "base-uri https:",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
};
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // A view could write data into a name that is looked up.
  "x-dns-prefetch-control": "off",
  // A page must belong to the scripts of the same deployment.
  "cache-control": "no-cache",
};
/** The placeholder in the pages for the server's own address. */
const EXAMPLE = "https://tools.example.com";
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** The page for browsers at addresses that do not exist. */
const NOT_FOUND = "/not-found.html";

/** The pages whose addresses are also for programs, which get JSON. */
const FOR_PROGRAMS = ["/", "/doctor", "/usage"];

const MODES = ["off", "landing", "playground"];

/** What SITE allows. Without a valid value, there is no playground. */
export function modeOf(env) {
  if (env.ASSETS === undefined) return "off";
  return MODES.includes(env.SITE) ? env.SITE : "landing";
}

/** The asset of a page; undefined if there is no such page in this mode. */
export function assetOf(path, mode) {
  if (mode === "off") return undefined;
  if (path === "/") return "/index.html";
  if (path === "/doctor" || path === "/usage" || path === "/signed-in") return `${path}.html`;
  if (path === "/docs" || path.startsWith("/docs/")) return `${path}.html`;
  const isPlayground = path === "/playground" || `${path}.html` === VIEW;
  return isPlayground && mode === "playground" ? `${path}.html` : undefined;
}

/** The address that the pages show: `PUBLIC_URL` if it is a valid origin, otherwise that of the request. */
export function addressOf(env, origin) {
  const { PUBLIC_URL } = env;
  if (typeof PUBLIC_URL !== "string" || !URL.canParse(PUBLIC_URL)) return origin;
  const url = new URL(PUBLIC_URL);
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOCAL_HOSTS.includes(url.hostname));
  return isSafe && url.origin === PUBLIC_URL ? PUBLIC_URL : origin;
}

/** How callers authenticate, as AUTH says: `open` without credentials, otherwise with a `key`, with `sign-in`, or by an `issuer` of the operator's own. */
export function waysOf({ AUTH }) {
  const methods = typeof AUTH === "string" ? AUTH.split(",").map((method) => method.trim()) : [];
  if (methods.includes("none")) return "open";
  const has = (...names) => names.some((name) => methods.includes(name));
  const ways = [has("api-key", "jwt") && "key", has("sign-in", "jwt") && "sign-in", has("jwt") && "issuer"].filter(Boolean);
  return ways.length === 0 ? "key sign-in" : ways.join(" ");
}

/** The end of a page's tag: what it depends on besides its file. A tag has no spaces. */
const tagEnd = (mode, ways, address) => `-${mode}-${ways.replaceAll(" ", "+")}-${address}"`;

/** Adds what a page depends on to the tag of its file: SITE, AUTH and PUBLIC_URL. */
export const tagOf = (tag, mode, ways, address) => tag.replace(/"$/, tagEnd(mode, ways, address));

/** The tags of files among the tags of pages in `If-None-Match`; null if no tag is of this mode, these ways and this address. */
export function fileTags(sent, mode, ways, address) {
  const end = tagEnd(mode, ways, address);
  const own = (sent ?? "").split(",").filter((tag) => tag.trim().endsWith(end));
  return own.length === 0 ? null : own.map((tag) => `${tag.trim().slice(0, -end.length)}"`).join(", ");
}

/** Whether a client prefers HTML: browsers name it first, and programs accept anything or ask for JSON. */
export function prefersHtml(accept) {
  const quality = (type) => {
    const range = accept.split(",").find((one) => one.split(";")[0].trim().toLowerCase() === type);
    if (range === undefined) return 0;
    return Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1);
  };
  return quality("text/html") > quality("application/json");
}

/** Answers a GET or HEAD request with a page, or with what `next` returns if it is for none. */
export async function site(request, env, next) {
  const { pathname, search } = new URL(request.url);
  const mode = modeOf(env);
  if (mode === "off") return next();
  const path = pathname.replace(/(?<!\/)\/+$/, "");
  if (path !== pathname && assetOf(path, mode) !== undefined) {
    return new Response(null, { status: 308, headers: { location: path + search, "cache-control": "no-cache" } });
  }
  const isBrowser = prefersHtml(request.headers.get("accept") ?? "");
  const isForPrograms = FOR_PROGRAMS.includes(pathname);
  const asset = assetOf(pathname, mode);
  const found = asset !== undefined && (isBrowser || !isForPrograms) ? await page(asset, request, env, mode) : undefined;
  if (found !== undefined) return found;
  const response = await next();
  const isMissing = response.status === 404 && response.headers.get("content-type")?.startsWith("application/json");
  if (isMissing && isBrowser) return (await page(NOT_FOUND, request, env, mode)) ?? response;
  return isMissing || isForPrograms ? varying(response) : response;
}

/** A page with this server's address in it; undefined if there is no such file. */
async function page(asset, request, env, mode) {
  const { origin } = new URL(request.url);
  const address = addressOf(env, origin);
  const ways = waysOf(env);
  const status = asset === NOT_FOUND ? 404 : 200;
  // Only what exists can be unchanged.
  const sent = status === 200 ? fileTags(request.headers.get("if-none-match"), mode, ways, address) : null;
  const found = await fetchAsset(env, new URL(asset, origin), sent);
  if (found?.status !== 200 && found?.status !== 304) return undefined;
  const headers = new Headers(HEADERS);
  headers.set("content-security-policy", POLICIES[asset] ?? POLICY);
  headers.set("vary", "accept");
  if (hasTls(address)) headers.set("strict-transport-security", "max-age=31536000");
  const tag = found.headers.get("etag");
  if (tag !== null && status === 200) headers.set("etag", tagOf(tag, mode, ways, address));
  if (found.status === 304) return new Response(null, { status: 304, headers });
  const text = (await found.text())
    .replaceAll(EXAMPLE, () => address)
    .replace('data-site="playground"', `data-site="${mode}"`)
    .replace('data-ways="key sign-in"', `data-ways="${ways}"`);
  return new Response(request.method === "HEAD" ? null : text, { status, headers });
}

/** The file of a page; undefined if the binding fails. */
async function fetchAsset(env, url, tags) {
  try {
    return await env.ASSETS.fetch(url, { headers: tags === null ? {} : { "if-none-match": tags } });
  } catch (error) {
    console.warn(JSON.stringify({ event: "assets", problem: String(error) }));
  }
}

/** Whether browsers should use only TLS from now on: not on a developer's machine, where the rule would apply to every port. */
export function hasTls(address) {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" && !LOCAL_HOSTS.includes(hostname);
}

function varying(response) {
  response.headers.append("vary", "accept");
  return response;
}
