// What shape a value has, and whether a page can show all of it: thousands of elements would stall the browser.
import { ExactNumber, type Json, type JsonObject, isObject, stringify } from "../json.ts";

/** The most cells of a table, and the most parts of any other value. */
export const MOST_CELLS = 5000;
/** The deepest nesting. */
const MOST_LEVELS = 8;

export const isPlain = (value: Json | undefined): boolean => value === undefined || value === null || typeof value !== "object" || value instanceof ExactNumber;

/** The longest list in one line, and the most items that are tried. */
const LINE = 80;
const MOST_ITEMS = 40;

/** A short list of plain values, in one line of JSON; undefined if the value is none. */
export function lineOf(value: Json | undefined): string | undefined {
  if (!Array.isArray(value) || value.length > MOST_ITEMS || !value.every(isPlain)) return undefined;
  const line = `[${value.map((item) => stringify(item)).join(", ")}]`;
  return line.length <= LINE ? line : undefined;
}

const isCell = (value: Json): boolean => isPlain(value) || lineOf(value) !== undefined;

/** A table: its columns, the rows that are shown, and the number of all rows. */
export interface TableOf {
  names: string[];
  rows: JsonObject[];
  total: number;
}

/** The table that a list of flat objects is, whose members are plain or short lists; undefined if the value is none, or has too many columns. */
export function tableOf(value: Json): TableOf | undefined {
  const isTable = Array.isArray(value) && value.length > 0 && value.every((row) => isObject(row) && Object.values(row).every(isCell));
  if (!isTable) return undefined;
  const all = value as JsonObject[];
  const names = new Set<string>();
  for (const row of all) {
    for (const name of Object.keys(row)) names.add(name);
    if (names.size > MOST_CELLS) return undefined;
  }
  return { names: [...names], rows: all.slice(0, Math.floor(MOST_CELLS / Math.max(names.size, 1))), total: all.length };
}

/** Whether a value has too many parts or levels to be shown as anything but text. */
export function isTooLarge(value: Json): boolean {
  let parts = 0;
  const exceeds = (part: Json, levels: number): boolean => {
    parts += 1;
    if (parts > MOST_CELLS || levels > MOST_LEVELS) return true;
    if (Array.isArray(part)) return part.some((item) => exceeds(item, levels + 1));
    return isObject(part) && Object.values(part).some((member) => exceeds(member, levels + 1));
  };
  return exceeds(value, 0);
}
