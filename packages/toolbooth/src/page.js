// Makes a page in HTML self-contained: its scripts, styles and images become parts of it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";

const TYPES = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml" };
/** Comments; scripts and styles with their text; all other tags that open. */
const PARTS = /<!--[\s\S]*?-->|<(script|style)\b((?:[^>"']|"[^"]*"|'[^']*')*)>([\s\S]*?)<\/\1\s*>|<([a-z][\w-]*)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;
const ATTRIBUTES = /([^\s=/"'>]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
/** The attributes that have addresses. */
const ADDRESSES = ["src", "href", "srcset", "poster", "data", "action", "formaction", "background", "xlink:href"];
/** Values of `type` for scripts that run. */
const SCRIPTS = [undefined, "", "module", "text/javascript"];

/**
 * The page in `file` without references to other files. `compile` bundles scripts and styles: it gets options of esbuild, and returns
 * `{ script, style }`. References that cannot be resolved are added to `problems`.
 */
export async function pageOf(file, compile, problems) {
  const html = readFileSync(file, "utf8");
  const folder = dirname(file);
  const stdin = (contents, loader) => ({ stdin: { contents, loader, resolveDir: folder, sourcefile: file } });
  const styleTag = (style) => `<style>${style}</style>`;
  let page = "";
  let end = 0;
  for (const part of html.matchAll(PARTS)) {
    page += html.slice(end, part.index);
    end = part.index + part[0].length;
    const [text, raw, rawAttributes, contents, name, rest] = part;
    if (raw === undefined && name === undefined) continue;
    const attributes = attributesOf(rawAttributes ?? rest);
    const reference = attributes.get("src") ?? attributes.get("href");
    if (raw?.toLowerCase() === "style") {
      page += styleTag((await compile(stdin(contents, "css"))).style);
    } else if (raw !== undefined && SCRIPTS.includes(attributes.get("type")) && !isAbsolute(reference)) {
      const isModule = attributes.get("type") === "module";
      const source = reference === undefined ? stdin(contents, "js") : { entryPoints: [join(folder, reference)] };
      const { script, style } = await compile({ ...source, format: isModule ? "esm" : "iife" });
      page += `${style && styleTag(style)}<script${isModule ? ' type="module"' : ""}>${script}</script>`;
    } else if (name?.toLowerCase() === "link" && /\bstylesheet\b/i.test(attributes.get("rel") ?? "") && reference !== undefined && !isAbsolute(reference)) {
      page += styleTag((await compile({ entryPoints: [join(folder, reference)] })).style);
    } else {
      page += withData(text, attributes, folder, problems);
    }
  }
  return page + html.slice(end);
}

function attributesOf(text) {
  return new Map([...text.matchAll(ATTRIBUTES)].map(([, name, , double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? ""]));
}

const isAbsolute = (address) => address !== undefined && /^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(address);

/** A tag whose images are data instead of files. */
function withData(tag, attributes, folder, problems) {
  const data = new Map();
  for (const [name, value] of attributes) {
    if (!ADDRESSES.includes(name) || value === "" || isAbsolute(value)) continue;
    const path = join(folder, value);
    const type = TYPES[extname(value).toLowerCase()];
    if (type === undefined || name === "srcset" || !existsSync(path)) {
      problems.push(`has ${name}="${value}", which is not an image beside it; expected one, or an address that ui.csp declares`);
      continue;
    }
    data.set(name, `data:${type};base64,${readFileSync(path).toString("base64")}`);
  }
  return tag.replaceAll(ATTRIBUTES, (attribute, name) => (data.has(name.toLowerCase()) ? `${name}="${data.get(name.toLowerCase())}"` : attribute));
}
