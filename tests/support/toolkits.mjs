// The shipped toolkits, and a stand-in for their services on a loopback port. It accepts only what the documents of the services
// describe: toolkits/facts.json, which scripts/toolkit-facts.mjs writes.
import { readFileSync, readdirSync } from "node:fs";
import { listen } from "./server.mjs";

const SHIPPED = new URL("../../toolkits/", import.meta.url);
const read = (url) => JSON.parse(readFileSync(url, "utf8"));
const FACTS = read(new URL("toolkits/facts.json", import.meta.url));

/** Each toolkit with its name, its variables and its definitions. */
export const TOOLKITS = readdirSync(SHIPPED).map((name) => {
  const folder = new URL(`${name}/`, SHIPPED);
  const definitions = readdirSync(folder).filter((file) => file.includes("@"));
  return { name, variables: read(new URL("toolkit.json", folder)).variables, definitions: definitions.map((file) => read(new URL(file, folder))) };
});

/** The address in examples if a variable has no default, as native tests make it up. */
const madeUp = (variable) => `https://${variable.toLowerCase()}.example`;

/** The input of an example. What is fetched from an allowed host is fetched from the stand-in. */
export const inputOf = (example, base) => JSON.parse(JSON.stringify(example.input).replaceAll(madeUp("FETCH_HOSTS"), `${base}/fetch/FETCH_HOSTS`));

/** The operator's variables: the addresses lead to the stand-in, below `/<toolkit>/<variable>`. */
export function variables(base) {
  const value = ({ name }, variable, kind) => {
    if (kind === "hosts") return new URL(base).host;
    return kind === "base" ? `${base}/${name}/${variable}` : `secret-of-${variable}`;
  };
  return Object.fromEntries(TOOLKITS.flatMap((toolkit) => Object.entries(toolkit.variables).map(([variable, { kind }]) => [variable, value(toolkit, variable, kind)])));
}

/**
 * Starts the stand-in. It responds as `example` says, whose `request` may then be read: its line as in the definition, headers and body.
 * `wrong` is what the facts do not allow.
 */
export async function standIn() {
  const state = { example: undefined, request: undefined, wrong: [] };
  const server = await listen(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const url = new URL(request.url, "http://stand-in");
    const [, name, variable, path] = /^\/([^/]+)\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
    const toolkit = TOOLKITS.find((toolkit) => toolkit.name === name);
    const address = toolkit?.variables[variable]?.default ?? madeUp(variable);
    const { method, headers } = request;
    state.request = { line: `${method} ${address}${path}${url.search}`, headers, body };
    state.wrong = toolkit ? wrong(FACTS[name], method, path, url.searchParams, headers["content-type"], body) : [];
    const { status, body: answer = null, link } = state.example.response;
    const isText = typeof answer === "string";
    response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json", ...(link && { link }) });
    response.end(answer === null ? "" : isText ? answer : JSON.stringify(answer));
  });
  return Object.assign(state, server);
}

/** What a service would reject: an unknown operation, unknown or missing parameters, another type of body. */
function wrong(operations, method, path, query, type = "", text) {
  const matches = (key) => {
    const [verb, template] = key.split(" ");
    const pattern = template.split("{}").map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&"));
    return verb === method && new RegExp(`^${pattern.join("[^/]+")}$`).test(path);
  };
  // A path of text only is more specific than one with parameters.
  const key = Object.keys(operations).filter(matches).sort((a, b) => a.split("{}").length - b.split("{}").length)[0];
  if (!key) return [`there is no ${method} ${path}`];
  const facts = operations[key];
  const found = [];
  const compare = (what, names, known, required = []) => {
    for (const name of names.filter((name) => !known.includes(name))) found.push(`${key} has no ${what} ${name}`);
    for (const name of required.filter((name) => !names.includes(name))) found.push(`${key} requires the ${what} ${name}`);
  };
  const plain = (name) => name.replace(/\[.*$/, "");
  compare("parameter", [...query.keys()].map(plain), facts.query, facts.required);
  if (!facts.body && text !== "") found.push(`${key} has no body`);
  if (facts.body && type.split(";")[0] !== facts.type && text !== "") found.push(`${key} expects ${facts.type}, not ${type}`);
  const isForm = facts.type === "application/x-www-form-urlencoded";
  const names = () => (isForm ? [...new URLSearchParams(text).keys()].map(plain) : Object.keys(JSON.parse(text || "{}")));
  if (facts.body) compare("member", [...new Set(names())], facts.body, facts.bodyRequired);
  return found;
}
