// Which operations of a document are those of the last import, although their path or their id is different now.
import { isObject } from "./nodes.js";
import { toolOf } from "./names.js";

export const keyOf = ({ method, path }) => `${method} ${path}`;

/** A path without its version and without the names of its parameters: `/v1/pets/{id}` and `/v2/pets/{petId}` are the same place. */
const placeOf = (key) => key.replace(/\{[^{}/]*\}/g, "{}").replace(/\/(?:v?\d+(?:\.\d+)*|v\d+[a-z]+\d*|\d{4}-\d\d(?:-\d\d)?)(?=\/|$)/gi, "");

/**
 * The tools of the last import by the key of the operation that has it now. `record`: the tools by name, each with its operation, its definition and
 * perhaps the operation's id. An operation that is not in the document any more gives its tool to one that has the same id, or is at the same
 * place, or would have the same name; if several could be meant, to none.
 */
export function sameTools(toolkit, all, record) {
  const same = new Map();
  const keys = new Set(all.map(keyOf));
  const gone = [];
  for (const [tool, { operation, operationId }] of Object.entries(record)) {
    if (keys.has(operation)) same.set(operation, tool);
    else gone.push({ tool, operation, operationId, place: placeOf(operation) });
  }
  let fresh = all.filter((one) => !one.problem && !same.has(keyOf(one)));
  let left = gone;
  // For each way to recognize an operation, what is the same in the document and in the record; undefined if there is nothing.
  const ways = [
    [({ operationId }) => operationId, ({ operationId }) => operationId],
    [(one) => placeOf(keyOf(one)), ({ place }) => place],
    [(one) => one.operationId && `${one.method} ${toolOf(toolkit, one, () => false)}`, ({ operation, tool }) => `${operation.split(" ")[0]} ${tool}`],
  ];
  for (const [ofFresh, ofGone] of ways) {
    const known = grouped(left, ofGone);
    for (const [value, [one, ...more]] of grouped(fresh, ofFresh)) {
      const [other, ...others] = known.get(value) ?? [];
      if (other !== undefined && more.length === 0 && others.length === 0) same.set(keyOf(one), other.tool);
    }
    const taken = new Set(same.values());
    fresh = fresh.filter((one) => !same.has(keyOf(one)));
    left = left.filter(({ tool }) => !taken.has(tool));
  }
  return same;
}

/** The items of a list by what `of` says about them, without those of which it says nothing. */
function grouped(list, of) {
  const groups = new Map();
  for (const one of list) {
    const value = of(one);
    if (value === undefined) continue;
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(one);
  }
  return groups;
}

const namesIn = (path) => [...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name);

/**
 * The properties that the last import gave to the parameters and members of an operation, by their place and name, such as `query page`. A
 * parameter of the path keeps that of the one which was there before.
 */
export function keptProperties(previous, path) {
  const kept = new Map();
  const http = previous?.http;
  if (!isObject(http)) return kept;
  for (const { in: place, name, property } of http.parameters ?? []) kept.set(`${place} ${name}`, property);
  for (const [property, name] of Object.entries(http.body?.properties ?? {})) kept.set(`body ${name}`, property);
  const before = namesIn(String(http.path));
  const now = namesIn(path);
  if (before.length !== now.length) return kept;
  const properties = before.map((name) => kept.get(`path ${name}`));
  for (const [at, name] of now.entries()) if (properties[at] !== undefined) kept.set(`path ${name}`, properties[at]);
  return kept;
}
