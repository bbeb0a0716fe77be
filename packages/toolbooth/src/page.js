// Makes a page in HTML self-contained: its scripts, styles and images become parts of it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { loadsOfElement } from "./view-loads.js";

const TYPES = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml" };
/** Comments; scripts and styles with their text; all other tags that open. */
const PARTS = /<!--[\s\S]*?-->|<(script|style)\b((?:[^>"']|"[^"]*"|'[^']*')*)>([\s\S]*?)<\/\1\s*>|<([a-z][\w-]*)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTES = /([^\s=/"'>]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
/** The attributes that have addresses. */
const ADDRESSES = ["src", "href", "srcset", "poster", "data", "action", "formaction", "background", "xlink:href"];
/** Values of `type` for scripts that run. */
const SCRIPTS = [undefined, "", "module", "text/javascript"];
const JSON_TYPE = /^(?:application\/(?:.+\+)?json|importmap|speculationrules)$/i;
/** What makes browsers look for another end of the script, in which they would not see the first. */
const UNENDED = /<!--(?:(?!-->)[^])*<script/i;
/** What begins or ends something else than the script that has it (HTML, "Restrictions for contents of script elements"). */
const RESERVED = /<!--|<(\/?)(s)(?=cript)/gi;

/**
 * A script as it can stand in a page. What it says stays the same wherever this is in it: in strings, in regular expressions, where `<!--`
 * may be a part of `(?<!--)` and `<script` of `(?<script>)`, and in code such as `a<script`, because names may have escapes too. Only
 * tagged templates would see the difference.
 */
export function inScript(script) {
  return script.replaceAll(RESERVED, (found, slash, letter) => (letter ? `<${slash}\\u00${letter.charCodeAt(0).toString(16)}` : "<!-\\x2d"));
}

/**
 * The page in `file` without references to other files. `compile` bundles scripts and styles: it gets options of esbuild, and returns
 * `{ script, style, isModule }`. What the page loads from elsewhere is added to `loads`, what cannot be resolved to `problems`, and the
 * images that become parts of it to `inputs`.
 */
export async function pageOf(file, compile, { loads, problems, inputs }) {
  const html = readFileSync(file, "utf8");
  const folder = dirname(file);
  // At its own line and column, which messages name.
  const stdin = (contents, loader, start) => {
    const before = html.slice(0, start).split("\n");
    const place = "\n".repeat(before.length - 1) + " ".repeat(before.at(-1).length);
    return { stdin: { contents: place + contents, loader, resolveDir: folder, sourcefile: file } };
  };
  const styleTag = (style) => `<style>${style}</style>`;
  let page = "";
  let end = 0;
  for (const part of html.matchAll(PARTS)) {
    page += html.slice(end, part.index);
    end = part.index + part[0].length;
    const [text, raw, rawAttributes, contents, name, rest] = part;
    if (raw === undefined && name === undefined) continue;
    const attributes = attributesOf(rawAttributes ?? rest);
    loads.push(...loadsOfElement(raw ?? name, attributes));
    const start = raw === undefined ? 0 : `<${raw}${rawAttributes}>`.length;
    const reference = attributes.get("src") ?? attributes.get("href");
    if (raw?.toLowerCase() === "style") {
      page += styleTag((await compile(stdin(contents, "css", part.index + start))).style);
    } else if (raw !== undefined && SCRIPTS.includes(attributes.get("type")) && !isAbsolute(reference)) {
      const source = reference === undefined ? stdin(contents, "js", part.index + start) : { entryPoints: [join(folder, reference)] };
      const { script, style, isModule } = await compile({ ...source, format: attributes.get("type") === "module" ? "esm" : "iife" });
      page += `${style && styleTag(style)}<script${isModule ? ' type="module"' : ""}>${script}</script>`;
    } else if (name?.toLowerCase() === "link" && /\bstylesheet\b/i.test(attributes.get("rel") ?? "") && reference !== undefined && !isAbsolute(reference)) {
      page += styleTag((await compile({ entryPoints: [join(folder, reference)] })).style);
    } else {
      const isData = raw?.toLowerCase() === "script";
      const isJson = isData && JSON_TYPE.test(attributes.get("type") ?? "");
      const safe = isJson ? text.slice(0, start) + contents.replaceAll("<", "\\u003c") + text.slice(start + contents.length) : text;
      if (isData && !isJson && UNENDED.test(contents)) problems.push(`has <!-- and then <script in a <script type="${attributes.get("type")}">, which browsers do not end where it ends; write it differently`);
      page += withData(safe, attributes, folder, { problems, inputs });
    }
  }
  return page + html.slice(end);
}

function attributesOf(text) {
  return new Map([...text.matchAll(ATTRIBUTES)].map(([, name, , double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? ""]));
}

const isAbsolute = (address) => address !== undefined && /^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(address);

/** A tag whose images are data instead of files. */
function withData(tag, attributes, folder, { problems, inputs }) {
  const data = new Map();
  for (const [name, value] of attributes) {
    if (!ADDRESSES.includes(name) || value === "" || isAbsolute(value)) continue;
    const path = join(folder, value);
    const type = TYPES[extname(value).toLowerCase()];
    // One that does not exist may appear.
    if (type !== undefined) inputs.add(resolve(path));
    if (type === undefined || name === "srcset" || !existsSync(path)) {
      problems.push(`has ${name}="${value}", which is not an image beside it; expected one, or an address that ui.csp declares`);
      continue;
    }
    data.set(name, `data:${type};base64,${readFileSync(path).toString("base64")}`);
  }
  return tag.replaceAll(ATTRIBUTES, (attribute, name) => (data.has(name.toLowerCase()) ? `${name}="${data.get(name.toLowerCase())}"` : attribute));
}
