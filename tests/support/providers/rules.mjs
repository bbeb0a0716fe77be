// Rules of providers: what each rejects, how it answers, and where that is written. The rules are data, in
// crates/toolbooth-gateway/stand-ins, where its README says what their members mean. Rules that JSON Schema cannot say name a check.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { CHECKS } from "./checks.mjs";
import { NORMAL } from "./normal.mjs";

const FOLDER = new URL("../../../crates/toolbooth-gateway/stand-ins/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER)));

/** What the models of providers accept: `{ fact, models, source, date }`. */
export const FACTS = read("models");

/** The tables, by name. */
export const TABLES = Object.fromEntries(
  ["chat", "responses", "embeddings", "anthropic", "gemini", "deepseek", "qwen", "mistral", "compatible"].map((name) => [name, read(name)]),
);

const ajv = new Ajv({ strict: false, allErrors: false });
const compiled = new WeakMap();
const fits = (schema, value) => {
  if (typeof schema === "boolean") return schema;
  if (!compiled.has(schema)) compiled.set(schema, ajv.compile(schema));
  return compiled.get(schema)(value);
};

/** Whether a model belongs to those of which a fact is known. */
export function holds(fact, model) {
  const known = FACTS.filter((one) => one.fact === fact);
  if (known.length === 0) throw new Error(`models.json lacks the fact ${JSON.stringify(fact)}`);
  return known.some(({ models }) => new RegExp(models).test(model));
}

/** The places at a JSON Pointer in which `*` is every item: `[path, value]`. Places that do not exist are left out. */
export function places(value, pointer) {
  let found = [[[], value]];
  for (const token of pointer.split("/").slice(1)) {
    found = found.flatMap(([path, one]) => {
      if (one === null || typeof one !== "object") return [];
      if (token === "*") return Array.isArray(one) ? one.map((item, at) => [[...path, at], item]) : [];
      return token in one ? [[[...path, token], one[token]]] : [];
    });
  }
  return found;
}

/** A path as providers write it: `a[0].b`, or `a.0.b` with dots. */
const written = (path, style) =>
  path.map((token, at) => (typeof token === "number" && style === "brackets" ? `[${token}]` : `${at > 0 ? "." : ""}${token}`)).join("");

/** The text with its places filled in. */
const fill = (text, values) => text.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** The body of an error, in the form of the table. Members that say nothing are null. */
export function errorOf({ error }, message, { param = null, code = null } = {}) {
  const values = { message, param, code };
  const filled = (value) => {
    if (typeof value === "string") return /^\{\w+\}$/.test(value) ? values[value.slice(1, -1)] : value;
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
  };
  return filled(error);
}

/**
 * The first rule that a request breaks: `{ id, status, message, param, code }`, or undefined. `context` has what checks need: the
 * request's `headers`, what the provider has `issued`, the `model` if the body lacks it, and `only`, a kind of request.
 */
export function broken(name, sent, context = {}) {
  const table = TABLES[name];
  const body = NORMAL[name]?.(sent) ?? sent;
  const model = context.model ?? body.model ?? "";
  for (const rule of table.rules) {
    if (rule.only && context.only && rule.only !== context.only) continue;
    if (rule.models && !holds(rule.models, model)) continue;
    for (const at of [rule.at ?? ""].flat()) {
      for (const [path, value] of places(body, at)) {
        if (rule.where && !fits(rule.where, value)) continue;
        const details = violation(rule, value, { ...context, body, path });
        if (!details) continue;
        const values = { model, value, id: value?.id, type: value?.type, name: value?.name, supported: rule.schema?.enum, ...details, at: written(details.path ?? path, table.path) };
        return { id: rule.id, status: rule.status ?? 400, message: fill(rule.message, values), param: rule.param && fill(rule.param, values), code: rule.code };
      }
    }
  }
}

/** What a value breaks of a rule, for its message; undefined if nothing. */
function violation(rule, value, context) {
  if (rule.members) {
    const known = rule.members.split(" ");
    const name = Object.keys(value ?? {}).find((name) => !known.includes(name));
    return name === undefined ? undefined : { name };
  }
  if (rule.check) {
    const check = CHECKS[rule.check];
    if (!check) throw new Error(`no check is named ${JSON.stringify(rule.check)}`);
    return check(value, context);
  }
  return fits(rule.schema, value) ? undefined : {};
}
