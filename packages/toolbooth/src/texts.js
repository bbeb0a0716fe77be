// Reads the files of a project.
import { readFileSync } from "node:fs";
import { Failure } from "./process.js";

/** The text of a file, without the byte order mark of some editors, and with "\n" as line breaks: git may have written others. */
export function textOf(file) {
  return readFileSync(file, "utf8").replace(/^\u{feff}/u, "").replaceAll("\r\n", "\n");
}

/** What a file has as JSON. Fails with its name if it is not JSON. */
export function jsonOf(file) {
  try {
    return JSON.parse(textOf(file));
  } catch ({ message }) {
    throw new Failure(`${file} cannot be read as JSON: ${message}`);
  }
}
