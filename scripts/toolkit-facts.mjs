// Writes what the documents of services say about the operations that the shipped toolkits call: names of parameters and of members of
// bodies. The tests hold each request to it (tests/support/toolkits.mjs). Fails if a document does not have an operation.
// node scripts/toolkit-facts.mjs <folder with the documents>
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const OUT = new URL("../tests/support/toolkits/facts.json", import.meta.url);
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
/** The document of each toolkit, and what comes before its paths in those of the definitions, if anything. */
const DOCUMENTS = {
  calendar: ["calendar.json"],
  drive: ["drive.json"],
  github: ["api.github.com.json"],
  gmail: ["gmail.json", "/gmail/v1"],
  jira: ["jira.json"],
  slack: ["slack.com.json"],
  stripe: ["stripe.com.json", "/v1"],
};

/** Without the names of parameters. */
const shape = (path) => path.replaceAll(/\{[^}]*\}/g, "{}");

/** The path of a document with the fewest parameters that a path of a definition can be, and what the document says about it. */
function found({ paths }, wanted) {
  const parts = wanted.split("/");
  const fits = ([path]) => {
    const own = shape(path).split("/");
    return own.length === parts.length && own.every((part, index) => part === parts[index] || part === "{}");
  };
  return Object.entries(paths).filter(fits).sort(([a], [b]) => a.split("{").length - b.split("{").length)[0] ?? [];
}

function resolved(document, part) {
  return part?.$ref ? part.$ref.slice(2).split("/").reduce((at, key) => at[key.replaceAll("~1", "/").replaceAll("~0", "~")], document) : part;
}

/** The members of a schema: names, and which are required. */
function members(document, schema) {
  const { properties = {}, required = [], allOf = [], anyOf = [], oneOf = [] } = resolved(document, schema) ?? {};
  const parts = [...allOf, ...anyOf, ...oneOf].map((part) => members(document, part));
  return { names: [...Object.keys(properties), ...parts.flatMap(({ names }) => names)], required };
}

function facts(document, operation, shared) {
  const parameters = [...(shared ?? []), ...(document.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolved(document, one));
  const query = parameters.filter((one) => one.in === "query");
  const { content = {} } = resolved(document, operation.requestBody) ?? {};
  const json = "application/json";
  const [first, { schema } = {}] = Object.entries(content).find(([type]) => type === json) ?? Object.entries(content)[0] ?? [];
  // Of operations that also take a file, the documents of Google have the type of the file only.
  const type = first && document.info["x-providerName"] === "googleapis.com" ? json : first;
  const body = type && members(document, schema);
  const required = query.filter((one) => one.required && one.name !== "token").map(({ name }) => name);
  return { query: query.map(({ name }) => name.replace(/\[\]$/, "")), required, ...(body && { type, body: body.names, bodyRequired: body.required.filter((name) => name !== "token") }) };
}

const all = read(OUT);
for (const [toolkit, [file, prefix = ""]] of Object.entries(DOCUMENTS)) {
  if (!existsSync(new URL(`../toolkits/${toolkit}`, import.meta.url))) continue;
  const document = read(join(folder, file));
  const operations = {};
  const definitions = readdirSync(new URL(`../toolkits/${toolkit}`, import.meta.url)).filter((name) => name.includes("@"));
  for (const name of definitions) {
    const { http } = read(new URL(`../toolkits/${toolkit}/${name}`, import.meta.url));
    const [, item] = found(document, shape(prefix + http.path));
    const operation = item?.[http.method.toLowerCase()];
    const key = `${http.method} ${shape(http.path)}`;
    // Facts that a person has added because the document is older than the operation.
    if (!operation && all[toolkit]?.[key]) operations[key] = all[toolkit][key];
    else if (!operation) throw new Error(`${file} has no ${http.method} ${prefix}${http.path}`);
    else operations[key] = facts(document, operation, item.parameters);
  }
  all[toolkit] = Object.fromEntries(Object.entries(operations).sort());
}
const text = JSON.stringify(all, null, 1).replaceAll(/\[\s+([^\]]*?)\s+\]/g, (_, list) => `[${list.replaceAll(/\n\s+/g, " ")}]`);
writeFileSync(OUT, `${text}\n`);
