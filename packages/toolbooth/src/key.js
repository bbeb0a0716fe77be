// Creates an API key and prints it, its entry for `API_KEYS` and the tools that it can call. Stores nothing.
import { definitions } from "./catalogue.js";
import { newKey } from "./credentials.js";
import { Failure } from "./process.js";

// Same rule as in crates/toolbooth/src/settings/api_keys.rs: users see the name on the consent page.
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]/u;

/** Creates a key of the owner `name` with these scopes, separated by commas. */
export function key(owner = "", list = "") {
  const name = owner.trim();
  const scopes = list.split(",").map((scope) => scope.trim()).filter(Boolean);
  if (name === "") throw new Failure("Name the owner of the key: toolbooth key somebody scope,scope", 2);
  if ([...name].length > 64 || INVISIBLE.test(name)) {
    throw new Failure("The name must have at most 64 characters, all of them visible", 2);
  }
  if (!scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) {
    throw new Failure("The scopes must be separated by commas", 2);
  }
  const { key, entry } = newKey(name, scopes);
  // The commands below put it in single quotes.
  const json = JSON.stringify(entry).replaceAll("'", "\\u0027");
  console.log(`The key for ${entry.name}. It is shown only once:

  ${key}

Add this entry to the JSON array in the secret API_KEYS. AUTH must include api-key:

  ${json}

For the first key:  echo '[${json}]' | npx wrangler secret put API_KEYS
To try it locally:  put API_KEYS='[${json}]' into .dev.vars

${tools(scopes)}`);
}

/** The tools that the key can call, and the scopes that it lacks for the others. Ignores TOOL_ALLOWLIST. */
function tools(scopes) {
  const lines = { can: [], cannot: [] };
  for (const { id, scopes: required = [] } of definitions()) {
    const missing = scopes.includes("*") ? [] : required.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) lines.can.push(`  ${id}`);
    else lines.cannot.push(`  ${id}, which needs ${missing.join(" and ")}`);
  }
  const section = (title, lines) => (lines.length > 0 ? [`${title}\n\n${lines.join("\n")}`] : []);
  return [...section("The key can call:", lines.can), ...section("It cannot call:", lines.cannot)].join("\n\n");
}
