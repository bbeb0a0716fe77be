// The names of tools, of their properties and of toolkits.
import { createHash } from "node:crypto";
import { isOfWorker } from "../variables.js";

/** The longest name for a model, without the suffix of an older version such as `__10_10_10`. */
const MAX_NAME = 64 - "__10_10_10".length;
const MAX_TOOLKIT = 20;
/** The limit of OpenAI and Anthropic for names of properties. */
const MAX_PROPERTY = 64;
/** Words that say nothing about a service. */
const NOISE = /^(?:api|apis|rest|restful|http|https|json|openapi|oas\d*|swagger|specification|spec|specs|schema|definition|description|documentation|document|docs|doc|reference|references|endpoint|endpoints|official|my|our|the|a|an|of|for|public|web|untitled|title|service|services|server|v\d+(?:\.\d+)*|\d+)$/i;
/** Names that the build refuses, because they could not name a module or a function of Rust. */
const REFUSED = ["crate", "self", "super", "types"];

/** The letters and digits of a text as words, with accents removed. */
const words = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
const pascal = (list) => list.map((word) => word[0].toUpperCase() + word.slice(1)).join("");

/** A toolkit's name from the title of a document; undefined if it has none that fits. */
export function toolkitOf(title) {
  const all = words(typeof title === "string" ? title.slice(0, 200).replace(/\bv\d+(?:\.\d+)+/gi, " ").replace(/['’]s?\b/g, "") : "");
  const first = all.findIndex((word) => !NOISE.test(word.replace(/^\d+/, "")) && /[a-z]/i.test(word));
  const chosen = [];
  // What comes after "API" or the like describes the document: "GitHub REST API for enterprises".
  for (const word of first === -1 ? [] : all.slice(first)) {
    if (chosen.join("").length + word.length > MAX_TOOLKIT || (chosen.length > 0 && NOISE.test(word))) break;
    chosen.push(word);
  }
  const name = pascal(chosen).replace(/^\d+/, "");
  return isToolkit(name) ? name : undefined;
}

/** A toolkit's name from the host of an address: `Pets` for `https://api.pets.co.uk/v1`; undefined if it has none that fits. */
export function toolkitOfHost(url) {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const labels = new URL(url).hostname.split(".");
  if (labels.length < 2 || /^\d+$/.test(labels.at(-1))) return undefined;
  const ends = labels.at(-1).length === 2 && /^(?:ac|co|com|edu|gov|net|org)$/.test(labels.at(-2)) ? 2 : 1;
  return toolkitOf(labels.at(-1 - ends)?.replaceAll("-", " "));
}

export const isToolkit = (name) => /^[A-Za-z][A-Za-z0-9]*$/.test(name) && name.length <= MAX_TOOLKIT && !REFUSED.includes(name.toLowerCase());

/** The name of a variable of a toolkit: `GITHUB_URL`, and `SERVICE_OPENAI_API_KEY`, because the Worker itself uses `OPENAI_API_KEY`. */
export function variableOf(toolkit, suffix) {
  const name = `${toolkit.toUpperCase()}_${suffix}`;
  return isOfWorker(name) ? `SERVICE_${name}` : name;
}

/** The words of a text, also those that only upper case separates. */
const allWords = (text) => words(text).flatMap((word) => word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/));

/** Words that a name can do without. */
const SMALL = /^(?:a|an|and|at|for|from|in|of|on|or|the|to|with)$/i;
/** Usual abbreviations of long words. */
const SHORT = Object.entries({
  administrator: "admin", administration: "admin", application: "app", applications: "apps", attribute: "attr", attributes: "attrs", authentication: "auth", configuration: "config", configurations: "configs",
  database: "db", databases: "dbs", description: "desc", development: "dev", directory: "dir", document: "doc", documents: "docs", environment: "env", environments: "envs", identifier: "id", identifiers: "ids", image: "img",
  images: "imgs", information: "info", management: "mgmt", message: "msg", messages: "msgs", organization: "org", organizations: "orgs", organisation: "org", organisations: "orgs", parameter: "param", parameters: "params",
  permission: "perm", permissions: "perms", preferences: "prefs", production: "prod", properties: "props", property: "prop", reference: "ref", references: "refs", repositories: "repos", repository: "repo", specification: "spec",
  statistics: "stats", temporary: "temp", transaction: "txn", transactions: "txns", variable: "var", variables: "vars",
});
const SHORTER = new Map(SHORT);

/** Names for the words of an operation, each shorter than the one before, and each still of whole words. */
function* shorterNames(list) {
  // What is before the last part of a path mostly says the same as the part after it: `ByRepoSlug`.
  const parts = list.filter((word) => !SMALL.test(word));
  yield pascal(parts);
  const short = parts.map((word) => SHORTER.get(word.toLowerCase()) ?? word);
  yield pascal(short);
  const distinct = short.filter((word, at) => short.findIndex((other) => other.toLowerCase() === word.toLowerCase()) === at);
  yield pascal(distinct);
  // The first word says what is done, and the last ones to what.
  for (let from = 2; from < distinct.length - 1; from += 1) yield pascal([distinct[0], ...distinct.slice(from)]);
}

/**
 * The names that an operation could have, the best first: `ReposListForOrg` for `repos/list-for-org`, and `GetUsersById` for `GET /users/{id}`
 * without an id. One that is too long is shortened by words.
 */
export function namesOf(toolkit, { method, path, operationId }) {
  const limit = MAX_NAME - toolkit.length - 1;
  const given = typeof operationId === "string" ? operationId.slice(0, 500) : "";
  const isGiven = words(given).length > 0;
  const parts = path.split("/").filter((part) => part !== "");
  const ofPart = (part) => (part.startsWith("{") ? ["By", ...words(part)] : words(part));
  // Of the names in a path, only one at the end tells two operations apart.
  const places = parts.filter((part, at) => !part.startsWith("{") || at === parts.length - 1);
  const prefix = isGiven && !/^\d/.test(words(given)[0]) ? [] : [method.toLowerCase()];
  const name = pascal([...prefix, ...(isGiven ? words(given) : parts.flatMap(ofPart))]);
  if (name.length <= limit) return [name];
  const list = isGiven ? allWords(given) : places.flatMap(ofPart).flatMap(allWords);
  const shorter = [...new Set(shorterNames([...prefix, ...list]))].filter((one) => one.length <= limit);
  return shorter.length > 0 ? shorter : [name];
}

/**
 * The tool of an operation. `isTaken` says whether a different operation has the name, and `isShared` whether one could have it when it is
 * shortened too.
 */
export function toolOf(toolkit, operation, isTaken, isShared = () => false) {
  const limit = MAX_NAME - toolkit.length - 1;
  const names = namesOf(toolkit, operation);
  const isFree = (name) => name.length <= limit && !REFUSED.includes(name.toLowerCase()) && !isTaken(name);
  const found = names.find((name) => isFree(name) && (names.length === 1 || !isShared(name)));
  if (found !== undefined) return found;
  // The suffix depends on nothing but the operation, so that the next import finds the same name.
  const { method, path, operationId } = operation;
  const hash = createHash("sha256").update(`${method} ${path} ${operationId ?? ""}`).digest("hex");
  for (let length = 6; ; length += 1) {
    const name = `${names[0].slice(0, limit - length)}${hash.slice(0, length)}`;
    if (!isTaken(name) || length >= hash.length) return name;
  }
}

/** A name of a property that every provider of models accepts. */
export function propertyOf(name) {
  const fits = name.replace(/[^A-Za-z0-9_.-]+/g, "_");
  const trimmed = fits === name ? name : fits.replace(/^_+|_+$/g, "");
  return trimmed.slice(0, MAX_PROPERTY) || "parameter";
}

/**
 * Gives every entry `{ name, in }` a property of its own: a collision with a body or a different place is `id__path`. `isShared`: different
 * names would become the same property. `kept`: those of the last import, by place and name.
 */
export function withProperties(entries, kept = new Map()) {
  const wanted = entries.map((entry) => {
    const before = kept.get(`${entry.in} ${entry.name}`);
    return { entry, plain: propertyOf(entry.name), property: before ?? propertyOf(entry.name), isKept: before !== undefined };
  });
  const count = new Map();
  for (const { property } of wanted) count.set(property, (count.get(property) ?? 0) + 1);
  // A member of the body keeps its name, unless another one has had it before.
  const isOwn = ({ entry, property, isKept }) => isKept || count.get(property) === 1 || (entry.in === "body" && !wanted.some((other) => other.isKept && other.property === property));
  const taken = new Set(wanted.filter(isOwn).map(({ property }) => property));
  const used = new Set();
  return wanted.map((one) => {
    const { entry, plain } = one;
    const isFree = !used.has(one.property) && isOwn(one);
    let property = isFree ? one.property : `${plain.slice(0, MAX_PROPERTY - 10)}__${entry.in}`;
    for (let next = 2; used.has(property) || (!isFree && taken.has(property)); next += 1) property = `${plain.slice(0, MAX_PROPERTY - 16)}__${entry.in}_${next}`;
    used.add(property);
    return { ...entry, property, isShared: wanted.some((other) => other.plain === plain && other.entry.name !== entry.name) };
  });
}
