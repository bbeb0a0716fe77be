// Makes an API key and prints what to put where, and which tools it may call. Nothing is kept.
//   node scripts/key.mjs name [scopes, with commas between]
import { readFileSync, readdirSync } from "node:fs";
import { newKey } from "./credentials.mjs";

// The same rule as in crates/toolbooth/src/auth/keys.rs: people see the name on the consent page.
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]/u;

const [given = "", list = ""] = process.argv.slice(2);
const name = given.trim();
const scopes = list.split(",").map((scope) => scope.trim()).filter(Boolean);
if (name === "") fail("NAME must say who gets the key: make key NAME=somebody SCOPES=a,b");
if ([...name].length > 64 || INVISIBLE.test(name)) fail("NAME must have at most 64 characters, all of them visible");
if (!scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) fail("SCOPES must be words with commas between");

const { key, entry } = newKey(name, scopes);
// It stands in quotes of the shell below.
const json = JSON.stringify(entry).replaceAll("'", "\\u0027");
console.log(`The key, for ${entry.name} alone; it is shown this once:

  ${key}

Its entry, for the array in the secret API_KEYS of the Worker, whose AUTH must have api-key:

  ${json}

For the first key:  echo '[${json}]' | npx wrangler secret put API_KEYS
To try it out:      make dev API_KEYS='[${json}]'

${tools()}`);

/** Which tools the key may call, and what it lacks for the others. A TOOL_ALLOWLIST may leave fewer. */
function tools() {
  const definitions = readdirSync("tools", { recursive: true })
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => JSON.parse(readFileSync(`tools/${file}`, "utf8")));
  const lines = { may: [], lacks: [] };
  for (const { id, scopes: required = [] } of definitions) {
    const missing = scopes.includes("*") ? [] : required.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0) lines.may.push(`  ${id}`);
    else lines.lacks.push(`  ${id}, which needs ${missing.join(" and ")}`);
  }
  const told = (title, lines) => (lines.length > 0 ? [`${title}\n\n${lines.join("\n")}`] : []);
  return [...told("It may call:", lines.may), ...told("It may not call:", lines.lacks)].join("\n\n");
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
