// Reads YAML as descriptions of APIs have it: with the core schema, and with merge keys.
import { parse } from "yaml";
import { isObject } from "./nodes.js";

const MERGE = "<<";
/** How often an alias may be used, with those within it. A large document uses one for each operation. */
const MAX_ALIASES = 100_000;

/** The value of a text in YAML. Throws if it is none. */
export function parseYaml(text) {
  const root = parse(text, { maxAliasCount: MAX_ALIASES, logLevel: "error", schema: "core" });
  const done = new Set();
  const seen = new Set();
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    merge(value, done);
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return root;
}

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
    for (const [name, value] of Object.entries(source)) {
      // Not an assignment: `__proto__` is a name like any other.
      if (!Object.hasOwn(target, name)) Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
    }
  }
}
