// Makes an API key and prints what to put where. Nothing is kept.
//   node scripts/key.mjs name [scopes, with commas between]
import { newKey } from "./credentials.mjs";

const [name = "", list = ""] = process.argv.slice(2);
const scopes = list.split(",").map((scope) => scope.trim()).filter(Boolean);
if (name.trim() === "") fail("NAME must say who gets the key: make key NAME=somebody SCOPES=a,b");
if (!scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) fail("SCOPES must be words with commas between");

const { key, entry } = newKey(name.trim(), scopes);
console.log(`The key, for ${entry.name} alone; it is shown this once:

  ${key}

Its entry, for the array in the secret API_KEYS of the Worker, whose AUTH must have api-key:

  ${JSON.stringify(entry)}

For the first key:  echo '[${JSON.stringify(entry)}]' | npx wrangler secret put API_KEYS
To try it out:      make dev API_KEYS='[${JSON.stringify(entry)}]'`);

function fail(message) {
  console.error(message);
  process.exit(2);
}
