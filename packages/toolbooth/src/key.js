// Creates an API key and prints it, its entry for `API_KEYS` and what it can do. Stores nothing.
import { existsSync, readFileSync } from "node:fs";
import { definitions } from "./catalogue.js";
import { newKey } from "./credentials.js";
import { Failure } from "./process.js";
import { oversized } from "./variables.js";

// Same rule as in crates/toolbooth/src/settings/api_keys.rs: users see the name on the consent page.
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]/u;

const items = (list) => list.split(",").map((item) => item.trim()).filter(Boolean);

/** The scopes that mean something although no tool requires them. */
const BUILT_IN_SCOPES = ["*", "gateway", "usage", "usage:team"];
/** Those with which the key may chat. */
const CHAT_SCOPES = ["*", "gateway"];
/** The value of `tools` of a key that may call no tool. */
const NO_TOOL = "none";

/**
 * Creates a key of the owner `name` with these scopes, and these `tools` if it may not call all. Both are separated by
 * commas; the tools can also be `none`. With `rotate` the key replaces the one that the owner has.
 */
export function key(owner = "", list = "", { tools: allowed, rotate = false } = {}) {
  const name = owner.trim();
  const scopes = items(list);
  const tools = allowed === undefined ? undefined : items(allowed === NO_TOOL ? "" : allowed);
  if (tools?.length === 0 && allowed !== NO_TOOL) throw new Failure(`List the tools that the key may call, or ${NO_TOOL}`, 2);
  const known = definitions();
  if (name === "") throw new Failure(`Say whose key it is, and list its scopes: ${process.env.MAKELEVEL ? "make key NAME=ada SCOPES=github:read" : "toolbooth key ada mail:read"}`, 2);
  if ([...name].length > 64 || INVISIBLE.test(name)) {
    throw new Failure("The name must have at most 64 characters, all of them visible", 2);
  }
  if (!scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) {
    throw new Failure("The scopes must be separated by commas", 2);
  }
  for (const pattern of tools ?? []) {
    if (known.length === 0 || known.some((definition) => isNamed(definition, [pattern]))) continue;
    throw new Failure(`There is no tool ${pattern}. List tools, or toolkits (Calculator.*), of ${[...new Set(known.map(({ id }) => id.split("@")[0]))].slice(0, 20).join(", ")}`, 2);
  }
  if (rotate && (scopes.length > 0 || tools !== undefined)) {
    throw new Failure("A rotated key keeps its scopes and tools: leave them out", 2);
  }
  const { key, entry } = newKey(name, scopes);
  if (rotate) return console.log(rotation(key, entry));
  if (tools !== undefined) entry.tools = tools;
  // The commands below put it in single quotes.
  const json = JSON.stringify(entry).replaceAll("'", "\\u0027");
  console.log(`The key for ${entry.name}. It is shown only once:

  ${key}

The secret API_KEYS is a JSON array with one entry for each key. Add this entry. AUTH must include api-key:

  ${json}

To store the array:  npx wrangler secret put API_KEYS < keys.json
It replaces the stored array, which Cloudflare does not show: keep a copy.
To try it locally:  put API_KEYS='[${json}]' into .dev.vars

${known.length > 0 ? abilities(known, scopes, tools) : "There are no tools in this folder, so the names of tools and scopes are not checked."}`);
}

/** Checks a value of `API_KEYS`, in a file, with the Worker that was built. */
export async function checkKeys(file) {
  if (!existsSync(file)) throw new Failure(`There is no file ${file}`, 2);
  const text = readFileSync(file, "utf8");
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Failure(`${file} is not valid JSON${placeOf(error, text)}. API_KEYS must be a JSON array with one entry for each key`);
  }
  // What is stored is the file, without the line break at its end.
  const tooLong = oversized({ API_KEYS: text.trimEnd() });
  if (tooLong.length > 0) throw new Failure(`${tooLong[0]}. An entry with tools, gateway and budgets takes 200 to 300 bytes: let people sign in, and keep keys for machines`);
  const { findings } = await import("./findings.js");
  const { calls, notes } = await findings({ vars: { AUTH: "api-key", OPENAI_API_KEY: "unknown", API_KEYS: text } });
  const found = [...calls, ...notes].filter((text) => text.startsWith("API_KEYS"));
  if (found.length > 0) throw new Failure(found.join("\n"));
  console.log(`The Worker accepts every entry of ${file}.`);
}

/** Where JSON stops being valid, as far as the runtime says. Its message is left out: it quotes the text. */
function placeOf({ message }, text) {
  if (/end of JSON/.test(message)) return ": it ends too early";
  const [, at] = message.match(/at position (\d+)/) ?? [];
  if (at === undefined) return "";
  const lines = text.slice(0, Number(at)).split("\n");
  return `, at line ${lines.length}, column ${lines.at(-1).length + 1}`;
}

/** How the new key replaces the one that the owner has. */
function rotation(key, { name, hash }) {
  return `The new key for ${name}. It is shown only once:

  ${key}

In the entry of ${name} in the secret API_KEYS, rename "hash" to "previous_hash" and add:

  "hash": "${hash}"

Store it with npx wrangler secret put API_KEYS. Then both keys work. Scopes, tools, limits and grants belong to the name and stay.
Remove "previous_hash" when no caller uses the old key any more.`;
}

/** Whether one of `patterns` names the tool, as in crates/toolbooth/src/settings/allowlist.rs. */
function isNamed({ id, name }, patterns) {
  const [tool, version] = id.split("@");
  return patterns.some((pattern) => {
    const [listed, wanted = version] = pattern.split("@");
    return pattern === name || (wanted === version && [tool, `${tool.split(".")[0]}.*`].includes(listed));
  });
}

/** What the key can do: the tools that it can call, why not the others, and whether it may chat. Ignores TOOL_ALLOWLIST. */
function abilities(known, scopes, tools) {
  const lines = { can: [], cannot: [] };
  let open = 0;
  for (const definition of known) {
    const { id, scopes: required = [] } = definition;
    const missing = scopes.includes("*") ? [] : required.filter((scope) => !scopes.includes(scope));
    if (tools && !isNamed(definition, tools)) lines.cannot.push(`  ${id}, which is not one of its tools`);
    else if (missing.length > 0) lines.cannot.push(`  ${id}, which needs ${missing.join(" and ")}`);
    else lines.can.push(`  ${id}`);
    if (required.length === 0) open += 1;
  }
  const section = (title, lines) => (lines.length > 0 ? [`${title}\n\n${lines.join("\n")}`] : []);
  const all = `Tools that require no scope: ${open}. Every key can call them, unless its entry has "tools".`;
  const required = known.flatMap(({ scopes = [] }) => scopes);
  const unknown = scopes.filter((scope) => !BUILT_IN_SCOPES.includes(scope) && !required.includes(scope));
  const chat = CHAT_SCOPES.find((scope) => scopes.includes(scope));
  return [
    ...section("The key can call:", lines.can),
    ...(tools?.length === 0 ? ["The key can call no tool."] : section("It cannot call:", lines.cannot)),
    ...(open > 0 && !tools ? [all] : []),
    ...(unknown.length > 0 ? [`No tool requires ${unknown.join(" or ")}: check the spelling.`] : []),
    chat
      ? `It can chat at /v1, because it has the scope ${chat}. If a model provider is configured, each request costs you money.`
      : "It cannot chat at /v1, which needs the scope gateway.",
  ].join("\n\n");
}
