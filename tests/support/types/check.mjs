// Checks JSON against the types of the providers' SDKs.
import { types } from "./compile.mjs";

const { roots, shapes } = await types();
const show = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 60);

/**
 * What is wrong with `value` as `root`, a name in compile.mjs: `path: problem`.
 *
 * `isExact`, for requests: members that the type lacks are wrong, unless they are `known`. Otherwise, as in answers, there may be more
 * members, those that may be null may be missing, and optional ones may be null: the providers' own answers differ from the types so.
 */
export function problems(root, value, { isExact = false, known = [] } = {}) {
  if (!(root in roots)) throw new Error(`no type is named ${root}`);
  const found = [];
  walk(roots[root], value, "", (path, problem) => found.push(`${path || "."}: ${problem}`), { isExact, known });
  return found;
}

function walk(place, value, path, report, options) {
  const { any, never, type, items, union, members, others, name, ...rest } = shapes[place];
  if (any) return;
  if (never) return report(path, `nothing may be here, not ${show(value)}`);
  if ("value" in rest) return value === rest.value ? undefined : report(path, `${show(value)} is not ${show(rest.value)}`);
  if (type) return typeof value === type ? undefined : report(path, `${show(value)} is not a ${type}`);
  if (items) {
    if (!Array.isArray(value)) return report(path, `${show(value)} is not a list`);
    return value.forEach((item, at) => walk(items[Math.min(at, items.length - 1)], item, `${path}[${at}]`, report, options));
  }
  if (union) return walkUnion(union, value, path, report, options);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return report(path, `${show(value)} is not ${name}`);
  for (const [key, [own, isOptional]] of Object.entries(members)) {
    const one = value[key];
    if (one === undefined ? isOptional || (!options.isExact && isNullable(own)) : one === null && isOptional && !options.isExact) continue;
    if (one === undefined) report(`${path}.${key}`, `missing in ${name}`);
    else walk(own, one, `${path}.${key}`, report, options);
  }
  for (const [key, one] of Object.entries(value)) {
    if (key in members) continue;
    if (others !== undefined) walk(others, one, `${path}.${key}`, report, options);
    else if (options.isExact && !options.known.includes(key)) report(`${path}.${key}`, `${name} has no such member`);
  }
}

const isNullable = (place) => shapes[place].value === null || (shapes[place].union ?? []).some((one) => shapes[one].value === null);

/** How much says that a value is meant to have this type: its kind, and members such as `type`. */
function meant({ members = {}, items }, value) {
  const isOfKind = Array.isArray(value) ? items !== undefined : Object.keys(members).length > 0 && typeof value === "object";
  return Number(isOfKind) + Object.entries(members).filter(([key, [own]]) => "value" in shapes[own] && value?.[key] === shapes[own].value).length;
}

/** A value fits if it fits one of the types. Otherwise the problems are those of the type that it comes closest to. */
function walkUnion(union, value, path, report, options) {
  let closest;
  for (const place of union) {
    const found = [];
    walk(place, value, path, (...problem) => found.push(problem), options);
    if (found.length === 0) return;
    const distance = [-meant(shapes[place], value), found.length];
    if (!closest || distance[0] < closest.distance[0] || (distance[0] === closest.distance[0] && distance[1] < closest.distance[1])) closest = { distance, found };
  }
  const values = union.map((place) => shapes[place]).filter((shape) => "value" in shape);
  if (values.length > 1 && values.length === union.length) return report(path, `${show(value)} is none of ${values.map((one) => show(one.value)).sort().join(", ")}`);
  for (const problem of closest.found) report(...problem);
}
