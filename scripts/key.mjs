// Creates an API key and prints it, its entry for `API_KEYS` and the tools that it can call. Stores nothing.
//   node scripts/key.mjs name [comma-separated scopes]
import { readFileSync, readdirSync } from "node:fs";
import { newKey } from "./credentials.mjs";

// Same rule as in crates/toolbooth/src/auth/keys.rs: users see the name on the consent page.
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]/u;

const [given = "", list = ""] = process.argv.slice(2);
const name = given.trim();
const scopes = list.split(",").map((scope) => scope.trim()).filter(Boolean);
if (name === "") fail("NAME must name the owner of the key: make key NAME=somebody SCOPES=a,b");
if ([...name].length > 64 || INVISIBLE.test(name)) fail("NAME must have at most 64 characters, all of them visible");
if (!scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) fail("SCOPES must be a comma-separated list of scopes");

const { key, entry } = newKey(name, scopes);
// The commands below put it in single quotes.
const json = JSON.stringify(entry).replaceAll("'", "\\u0027");
console.log(`The key for ${entry.name}. It is shown only once:

  ${key}

Add this entry to the JSON array in the secret API_KEYS. AUTH must include api-key:

  ${json}

For the first key:  echo '[${json}]' | npx wrangler secret put API_KEYS
To try it locally:  make dev API_KEYS='[${json}]'

${tools()}`);

/** The tools that the key can call, and the scopes that it lacks for the others. Ignores TOOL_ALLOWLIST. */
function tools() {
  const definitions = readdirSync("tools", { recursive: true })
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => JSON.parse(readFileSync(`tools/${file}`, "utf8")));
  const lines = { can: [], cannot: [] };
  for (const { id, scopes: required = [] } of definitions) {
    const missing = scopes.includes("*") ? [] : required.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) lines.can.push(`  ${id}`);
    else lines.cannot.push(`  ${id}, which needs ${missing.join(" and ")}`);
  }
  const section = (title, lines) => (lines.length > 0 ? [`${title}\n\n${lines.join("\n")}`] : []);
  return [...section("The key can call:", lines.can), ...section("It cannot call:", lines.cannot)].join("\n\n");
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
