// What functions of tools import: `import { pathSegment, tool, ToolError } from "toolbooth"`. Its types are in tools.d.ts.

/** Marks a function as that of a tool. */
export const tool = (run) => run;

/** Why a tool failed, for the user and the model. The text of any other error reaches no caller. */
export class ToolError extends Error {
  /** `prompt` helps the model to correct its input. `retryAfter` is in milliseconds. `detail` is for the log of the client. */
  constructor(message, { prompt, retryAfter, retryable = false, detail, ...options } = {}) {
    super(message, options);
    this.name = "ToolError";
    Object.assign(this, { prompt, retryAfter, retryable, detail });
  }
}

/** Encodes a text as one segment of a URL's path. Rejects `.` and `..`, which lead to another path even when they are encoded. */
export function pathSegment(text) {
  const detail = 'A path segment must not be empty, "." or "..".';
  if (["", ".", ".."].includes(text)) throw new ToolError("A part of the address is not valid", { detail });
  return encodeURIComponent(text);
}
