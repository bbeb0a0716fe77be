// Reads YAML as descriptions of APIs have it: with the core schema, with merge keys, and with the spelling of numbers: where a text is meant,
// `1.0` is not 1.
import { isScalar, parseDocument, visit } from "yaml";
import { isObject } from "./nodes.js";

const MERGE = "<<";
/** How often an alias may be used, with those within it. A large document uses one for each operation. */
const MAX_ALIASES = 100_000;
/** Members that are always texts, and lists of texts. */
const TEXTS = new Set(["name", "title", "summary", "description", "operationId", "version", "pattern", "propertyName"]);
const LISTS = new Set(["required", "tags"]);

/** How numbers and the like are spelled, by the object or list that has them, and their name or index. */
const SPELLINGS = new WeakMap();

/** The spelling of a member or an item of a value, if it is none that JavaScript would write. */
export const spellingOf = (holder, name) => SPELLINGS.get(holder)?.get(String(name));

/** A scalar with its spelling, until the value that has it is complete. */
class Spelled {
  constructor(value, source) {
    Object.assign(this, { value, source });
  }
}

/** The value of a text in YAML. Throws if it is none. */
export function parseYaml(text) {
  const document = parseDocument(text, { logLevel: "error", schema: "core" });
  if (document.errors.length > 0) throw document.errors[0];
  visit(document, { Scalar: keepSpelling });
  const root = document.toJS({ maxAliasCount: MAX_ALIASES });
  const done = new Set();
  for (const value of objectsIn(root)) merge(value, done);
  for (const value of objectsIn(root)) keepSpellings(value);
  return root instanceof Spelled ? root.value : root;
}

/** Keeps the spelling of a scalar that is not written as JavaScript would write it. */
function keepSpelling(key, scalar, path) {
  const { value, source } = scalar;
  if (typeof source !== "string" || typeof value === "string" || (value !== null && String(value) === source)) return;
  const holder = path.at(-1);
  if (key === "key") scalar.value = value === null && source === "" ? "" : source;
  else if (isText(key === "value" ? holder : path.at(-2), key === "value" ? TEXTS : LISTS)) scalar.value = value === null ? value : source;
  else if (value !== null) scalar.value = new Spelled(value, source);
}

/** Whether a pair of a mapping has one of these names. */
const isText = (pair, names) => isScalar(pair?.key) && names.has(pair.key.value);

function* objectsIn(root) {
  const seen = new Set();
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null || value instanceof Spelled || seen.has(value)) continue;
    seen.add(value);
    yield value;
    for (const inner of Object.values(value)) waiting.push(inner);
  }
}

function keepSpellings(holder) {
  for (const [name, value] of Object.entries(holder)) {
    if (!(value instanceof Spelled)) continue;
    if (!SPELLINGS.has(holder)) SPELLINGS.set(holder, new Map());
    SPELLINGS.get(holder).set(name, value.source);
    define(holder, name, value.value);
  }
}

/** Not an assignment: `__proto__` is a name like any other. */
const define = (target, name, value) => Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });

/**
 * Adds what a merge key (`<<: *common`) names to an object. An alias is the same object in several places, and what is merged stays so:
 * the parser would copy it for each place, which may double with every level.
 */
function merge(target, done) {
  if (!isObject(target) || done.has(target)) return;
  done.add(target);
  const sources = Object.hasOwn(target, MERGE) ? [target[MERGE]].flat() : [];
  if (sources.length === 0 || !sources.every(isObject)) return;
  delete target[MERGE];
  for (const source of sources) {
    merge(source, done);
    for (const [name, value] of Object.entries(source)) if (!Object.hasOwn(target, name)) define(target, name, value);
  }
}
