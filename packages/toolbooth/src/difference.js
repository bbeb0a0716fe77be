// Describes a failing example: its input, and the members that differ from what is documented.
import { inspect, isDeepStrictEqual } from "node:util";

/** The most differences to show. */
const MAX = 10;

/** What to throw so that `node --test` prints only this text, without a stack. */
export const failure = (text) => ({ [inspect.custom]: () => text });

/** Lines that name each member that differs, with what was expected and what there is. */
export function differences(expected, got) {
  const found = differing("", expected, got);
  const more = found.length > MAX ? [`  and ${found.length - MAX} more`] : [];
  return [...found.slice(0, MAX).flatMap(lines), ...more].join("\n");
}

function differing(path, expected, got) {
  if (isDeepStrictEqual(expected, got)) return [];
  const members = Array.isArray(expected) && Array.isArray(got) ? inLists(expected, got) : inObjects(expected, got);
  if (!members) return [{ path, expected, got }];
  return members.flatMap((key) => differing(typeof key === "number" ? `${path}[${key}]` : path ? `${path}.${key}` : key, expected[key], got[key]));
}

const inLists = (expected, got) => Array.from({ length: Math.max(expected.length, got.length) }, (_, index) => index);

/** The members of two objects that have some in common: otherwise they are different things. */
function inObjects(expected, got) {
  if (!isObject(expected) || !isObject(got) || !Object.keys(expected).some((key) => key in got)) return undefined;
  return Object.keys({ ...expected, ...got });
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function lines({ path, expected, got }) {
  const text = (value) => JSON.stringify(value) ?? "nothing";
  return [...(path ? [`  ${path}`] : []), `    expected: ${text(expected)}`, `    got:      ${text(got)}`];
}
