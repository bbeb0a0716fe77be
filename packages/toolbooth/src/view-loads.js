// What a view loads or connects to, and the lists of `ui.csp` that allow it. Hosts enforce them; here, authors learn of it earlier.

/** The lists of `ui.csp`. */
export const [CONNECT, RESOURCE, FRAME, BASE] = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"];

/** The attributes that make browsers load something, with the lists for it. No host loads those without a list. */
const LOADED = new Map(
  [
    [[RESOURCE], "audio src, body background, feimage href, feimage xlink:href, image href, image xlink:href, img src, img srcset, input src"],
    [[RESOURCE], "link href, link imagesrcset, script src, script href, script xlink:href, source src, source srcset, track src"],
    [[RESOURCE], "use href, use xlink:href, video src, video poster"],
    [[FRAME], "frame src, iframe src"],
    [[BASE], "base href"],
    [[], "embed src, object data"],
  ].flatMap(([lists, names]) => names.split(", ").map((name) => [name, lists])),
);
/** The kinds of `<link>` that load something. */
const LINKS = /(?:^|\s)(?:stylesheet|preload|modulepreload|prefetch|icon|apple-touch-icon)(?:\s|$)/i;

/** What an element loads: `{ lists, address }` each. `attributes` are in lower case. */
export function loadsOfElement(element, attributes) {
  const tag = element.toLowerCase();
  const isLoaded = tag !== "link" || LINKS.test(attributes.get("rel") ?? "");
  const found = [];
  for (const [name, value] of attributes) {
    const lists = isLoaded ? LOADED.get(`${tag} ${name}`) : undefined;
    if (name === "style") found.push(...loadsOfStyle(value));
    else if (lists) found.push(...(name.endsWith("srcset") ? candidates(value) : [value]).map((address) => ({ lists, address })));
  }
  return found;
}

/** The addresses of `srcset`. */
const candidates = (value) => value.split(/,\s+|\s+/).filter((part) => part.includes("//"));

/** What a declaration of CSS loads. */
export function loadsOfStyle(text) {
  return [...text.matchAll(/\burl\(\s*["']?([^"')\s]+)/gi)].map(([, address]) => ({ lists: [RESOURCE], address }));
}

/** The origin of an address on the web, `//…` for one without a scheme, or `undefined`. */
export function originOf(address) {
  const text = address.trim();
  if (/^[\\/]{2}/.test(text)) return `//${text.slice(2).split(/[\\/?#]/, 1)[0].toLowerCase()}`;
  if (!/^(?:https?|wss?):/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, username, host } = new URL(text);
  return `${protocol}//${username && `${username}@`}${host}`;
}

/** Whether an origin of the policy, which may have a wildcard for subdomains, covers that of an address. */
export function covers(origin, address) {
  const [scheme, host] = origin.split("://*.");
  return host === undefined ? origin === address : address.startsWith(`${scheme}://`) && address.endsWith(`.${host}`) && /^\w+:\/\/[a-z0-9.-]+(:\d+)?$/.test(address);
}

/** What of `loads` the policy of `tools` does not allow, each as a problem. Those that have a `place` begin with it, others with `name`. */
export function undeclared(loads, { csp, tools }, name) {
  const declared = (list) => [csp?.[list] ?? []].flat().flatMap((origin) => (typeof origin === "string" ? (originOf(origin) ?? []) : []));
  const problems = loads.flatMap(({ lists, address, place = name }) => {
    const origin = originOf(address);
    if (origin === undefined || lists.flatMap(declared).some((one) => covers(one, origin))) return [];
    if (origin.startsWith("//")) return `${place}: uses ${origin}, which has no scheme; write https:${origin}`;
    if (lists.length === 0) return `${place}: uses ${origin} in an element that no host loads; use <img>, <video> or <iframe>`;
    return `${place}: uses ${origin}, which ui.csp of ${tools.join(", ")} does not declare for this; add it to ${lists.join(" or ")}`;
  });
  return [...new Set(problems)];
}

/** The origins in the policy of `tools` that are this machine without TLS, each as a problem: nobody else has them. */
export function ofThisMachine({ csp, tools }, name) {
  const origins = [...new Set(Object.values(csp ?? {}).flat())].filter((origin) => /^(?:http|ws):/i.test(origin));
  return origins.map((origin) => `${name}: has ${origin} in ui.csp of ${tools.join(", ")}, which is for development; write the address of the deployed service, with ${origin.startsWith("ws") ? "wss" : "https"}:`);
}
