// The names of tools, of their properties and of toolkits.
import { createHash } from "node:crypto";
import { isOfWorker } from "../variables.js";

/** The longest name for a model, without the suffix of an older version such as `__10_10_10`. */
const MAX_NAME = 64 - "__10_10_10".length;
const MAX_TOOLKIT = 20;
/** The limit of OpenAI and Anthropic for names of properties. */
const MAX_PROPERTY = 64;
/** Words that say nothing about a service. */
const NOISE = /^(?:api|apis|rest|restful|http|openapi|swagger|specification|spec|official|the|public|web|v\d+(?:\.\d+)*)$/i;
/** Names that the build refuses, because they could not name a module or a function of Rust. */
const REFUSED = ["crate", "self", "super", "types"];

/** The letters and digits of a text as words, with accents removed. */
const words = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
const pascal = (list) => list.map((word) => word[0].toUpperCase() + word.slice(1)).join("");

/** A toolkit's name from the title of a document; undefined if it has none that fits. */
export function toolkitOf(title) {
  const all = words(typeof title === "string" ? title.slice(0, 200).replace(/\bv\d+(?:\.\d+)+/gi, " ").replace(/['’]s?\b/g, "") : "");
  const first = all.findIndex((word) => !NOISE.test(word));
  const chosen = [];
  // What comes after "API" or the like describes the document: "GitHub REST API for enterprises".
  for (const word of all.slice(Math.max(first, 0))) {
    if (chosen.join("").length + word.length > MAX_TOOLKIT || (chosen.length > 0 && NOISE.test(word))) break;
    chosen.push(word);
  }
  const name = pascal(chosen).replace(/^\d+/, "");
  return isToolkit(name) ? name : undefined;
}

export const isToolkit = (name) => /^[A-Za-z][A-Za-z0-9]*$/.test(name) && name.length <= MAX_TOOLKIT && !REFUSED.includes(name.toLowerCase());

/** The name of a variable of a toolkit: `GITHUB_URL`, and `SERVICE_OPENAI_API_KEY`, because the Worker itself uses `OPENAI_API_KEY`. */
export function variableOf(toolkit, suffix) {
  const name = `${toolkit.toUpperCase()}_${suffix}`;
  return isOfWorker(name) ? `SERVICE_${name}` : name;
}

/**
 * The tool of an operation: `ReposListForOrg` for `repos/list-for-org`, and `GetUsersById` for `GET /users/{id}` without an id.
 * `isTaken` says whether a different operation has the name.
 */
export function toolOf(toolkit, { method, path, operationId }, isTaken) {
  const byPath = () => pascal([method.toLowerCase(), ...path.split("/").flatMap((part) => (part.startsWith("{") ? ["By", ...words(part)] : words(part)))]);
  const given = typeof operationId === "string" ? pascal(words(operationId.slice(0, 500))) : "";
  const base = given === "" ? byPath() : /^\d/.test(given) ? `${pascal([method.toLowerCase()])}${given}` : given;
  const limit = MAX_NAME - toolkit.length - 1;
  if (base.length <= limit && !REFUSED.includes(base.toLowerCase()) && !isTaken(base)) return base;
  // The suffix depends on nothing but the operation, so that the next import finds the same name.
  const hash = createHash("sha256").update(`${method} ${path} ${operationId ?? ""}`).digest("hex");
  for (let length = 6; ; length += 1) {
    const name = `${base.slice(0, limit - length)}${hash.slice(0, length)}`;
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
  const wanted = entries.map((entry) => ({ ...entry, property: propertyOf(entry.name) }));
  const isShared = ({ name, property }) => wanted.some((other) => other.property === property && other.name !== name);
  const count = new Map();
  for (const { property } of wanted) count.set(property, (count.get(property) ?? 0) + 1);
  const taken = new Set(wanted.filter((entry) => entry.in === "body" || count.get(entry.property) === 1).map(({ property }) => property));
  const used = new Set();
  const before = wanted.map((entry) => kept.get(`${entry.in} ${entry.name}`));
  for (const property of before) if (property !== undefined) taken.add(property);
  return wanted.map((entry, at) => {
    const isKept = before[at] !== undefined && !used.has(before[at]);
    if (isKept) {
      used.add(before[at]);
      return { ...entry, property: before[at], isShared: isShared(entry) };
    }
    const isFree = !used.has(entry.property) && !before.includes(entry.property) && (entry.in === "body" || count.get(entry.property) === 1);
    let property = isFree ? entry.property : `${entry.property.slice(0, MAX_PROPERTY - 10)}__${entry.in}`;
    for (let next = 2; used.has(property) || (!isFree && taken.has(property)); next += 1) property = `${entry.property.slice(0, MAX_PROPERTY - 16)}__${entry.in}_${next}`;
    used.add(property);
    return { ...entry, property, isShared: isShared(entry) };
  });
}
