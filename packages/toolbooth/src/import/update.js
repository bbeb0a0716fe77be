// What an import changes in a definition: edits are kept, and the version says what changed.
import { isDeepStrictEqual } from "node:util";
import { isObject } from "./nodes.js";

/** What does not change which inputs are valid. */
const ANNOTATIONS = ["description", "examples", "deprecated", "title", "contentMediaType", "contentEncoding"];
const LEAST = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const MOST = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const LEVELS = ["none", "patch", "minor", "major"];
const higher = (one, other) => (LEVELS.indexOf(one) >= LEVELS.indexOf(other) ? one : other);
const list = (value) => (value === undefined ? [] : [value].flat());
const includes = (all, some) => some.every((value) => all.some((one) => isDeepStrictEqual(one, value)));

/**
 * `next` with the edits that turned `generated` into `current`. `conflict` is called with the place of each edit of a part that
 * `next` changes as well; the edit stays.
 */
export function withEdits(generated, current, next, conflict, place = "") {
  if (isDeepStrictEqual(current, generated)) return next;
  if (isDeepStrictEqual(next, generated) || isDeepStrictEqual(next, current)) return current;
  if (![current, next].every(isObject)) {
    conflict(place);
    return current;
  }
  const before = isObject(generated) ? generated : {};
  const member = (value, name) => (Object.hasOwn(value, name) ? value[name] : undefined);
  const names = [...new Set([...Object.keys(next), ...Object.keys(current)])];
  const merged = names.map((name) => [name, withEdits(member(before, name), member(current, name), member(next, name), conflict, place ? `${place}.${name}` : name)]);
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

/** The places in which two definitions differ, at most three names deep. */
export function differences(one, other, place = "", depth = 0) {
  if (isDeepStrictEqual(one, other)) return [];
  if (depth === 3 || !isObject(one) || !isObject(other)) return [place];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => differences(one[name], other[name], place ? `${place}.${name}` : name, depth + 1));
}

/** How much a definition changes for its callers: `none`, `patch`, `minor` or `major`. */
export function levelOf(before, after) {
  let level = isDeepStrictEqual(before, after) ? "none" : "patch";
  if (!isDeepStrictEqual(before.annotations, after.annotations) || (after.deprecated && !before.deprecated)) level = "minor";
  if (!includes(list(before.scopes), list(after.scopes)) || !isDeepStrictEqual(before.requirements, after.requirements)) level = "major";
  const schemas = new Schemas(before.input_schema.$defs, after.input_schema.$defs);
  return higher(level, schemas.change(before.input_schema, after.input_schema));
}

/** Compares schemas with the definitions of each. */
class Schemas {
  #known = new Map();

  constructor(before = {}, after = {}) {
    this.before = before;
    this.after = after;
  }

  change(one, other) {
    if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, other) ? "none" : other === true || (one === false && isObject(other)) ? "minor" : "major";
    if (one.$ref !== undefined && other.$ref !== undefined) return higher(this.#targets(one.$ref, other.$ref), this.#keywords(one, other));
    return this.#keywords(one, other);
  }

  #targets(one, other) {
    const key = `${one} ${other}`;
    if (!this.#known.has(key)) {
      const target = (definitions, reference) => definitions[reference.replace("#/$defs/", "")];
      this.#known.set(key, "none");
      this.#known.set(key, this.change(target(this.before, one), target(this.after, other)));
    }
    return this.#known.get(key);
  }

  #keywords(one, other) {
    let level = "none";
    for (const keyword of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (keyword === "$defs" || (keyword === "$ref" && one.$ref !== undefined && other.$ref !== undefined)) continue;
      level = higher(level, this.#keyword(keyword, one[keyword], other[keyword]));
    }
    return level;
  }

  #keyword(keyword, before, after) {
    if (isDeepStrictEqual(before, after) && !hasReference(before)) return "none";
    if (ANNOTATIONS.includes(keyword)) return "patch";
    if (keyword === "properties") return this.#properties(before ?? {}, after ?? {});
    if (keyword === "required") return includes(list(before), list(after)) ? "minor" : "major";
    if (after === undefined) return "minor";
    if (before === undefined) return "major";
    if (keyword === "type") return includes(list(after).flatMap((type) => (type === "number" ? ["number", "integer"] : [type])), list(before)) ? "minor" : "major";
    if (keyword === "enum") return includes(after, before) ? "minor" : "major";
    if (LEAST.includes(keyword)) return after <= before ? "minor" : "major";
    if (MOST.includes(keyword)) return after >= before ? "minor" : "major";
    if (keyword === "items" || keyword === "additionalProperties") return this.change(before, after);
    if (["anyOf", "oneOf"].includes(keyword) && before.length <= after.length) {
      const changes = before.map((one, at) => this.change(one, after[at]));
      return [...changes, before.length < after.length ? "minor" : "none"].reduce(higher);
    }
    return isDeepStrictEqual(before, after) ? "none" : "major";
  }

  #properties(before, after) {
    let level = Object.keys(after).some((name) => !Object.hasOwn(before, name)) ? "minor" : "none";
    for (const [name, schema] of Object.entries(before)) level = higher(level, Object.hasOwn(after, name) ? this.change(schema, after[name]) : "major");
    return level;
  }
}

/** Whether a schema refers to definitions, which may have changed although the reference has not. */
const hasReference = (value) => typeof value === "object" && value !== null && (Object.hasOwn(value, "$ref") || Object.values(value).some(hasReference));

/** The version after `version` for a change. Below 1.0, a breaking change raises the minor. */
export function raised(version, level) {
  const [major, minor, patch] = version.split(".").map(Number);
  if (level === "major") return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
  if (level === "minor" && major > 0) return `${major}.${minor + 1}.0`;
  return level === "none" ? version : `${major}.${minor}.${patch + 1}`;
}

/** The first version of a tool: that of the document, if it has one of SemVer. */
export const firstVersion = (version) => (typeof version === "string" && /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}$/.test(version) ? version : "0.1.0");
