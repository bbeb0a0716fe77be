// What functions of tools import: `import { tool, ToolError } from "toolbooth"`. Its types are in tools.d.ts.

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
