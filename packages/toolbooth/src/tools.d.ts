/** The types of functions of tools, with those of Node's modules, which Workers have. */
/// <reference types="node" />
/// <reference path="./files.d.ts" />

declare global {
  namespace Cloudflare {
    /** The Worker's bindings, variables and secrets: `wrangler types` writes their types. */
    interface Env {}
  }
}

/**
 * The function of a tool. The build generates its types from the definition, in a file beside the function:
 *
 * ```ts
 * import { tool, ToolError } from "toolbooth";
 * import type { Input, Output } from "./hello.types.js";
 *
 * export default tool<Input, Output>(async (input, context) => {
 *   if (input.name === "") throw new ToolError("The name is empty", { prompt: "Ask the user for a name." });
 *   return `Hello, ${input.name}!`;
 * });
 * ```
 */
export function tool<Input, Output>(run: ToolFunction<Input, Output>): ToolFunction<Input, Output>;

export type ToolFunction<Input, Output> = (input: Input, context: Context) => Output | Promise<Output>;

/** Why a tool failed, for the user and the model. The text of any other error reaches no caller. */
export class ToolError extends Error {
  constructor(message: string, options?: ToolErrorOptions);
}

export interface ToolErrorOptions extends ErrorOptions {
  /** What helps the model to correct its input, such as the accepted values. The call can then be retried. */
  prompt?: string;
  /** After how many milliseconds the call can be retried. */
  retryAfter?: number;
  /** Whether the same call may succeed later. */
  retryable?: boolean;
  /** Detail for the developers of the client. */
  detail?: string;
}

/** Encodes a text as one segment of a URL's path. Throws a `ToolError` if it is empty, `.` or `..`, which lead to another path. */
export function pathSegment(text: string): string;

/** The context of one run of a tool. It ends with the run. */
export interface Context {
  /** The user on whose behalf the call is made. Present if the definition requires `user_id`. */
  readonly user: string | undefined;
  /** The user's token for a provider in the definition's `requirements.authorization`. */
  token(provider: string): string;
  /**
   * The error to throw if a service has rejected the token of a provider with 401. The client then gets the same response as for
   * a call without the token.
   */
  tokenRefused(provider: string): Error;
  /** A secret of the operator in the definition's `variables`, or one of the client in its `requirements.secrets`. */
  secret(name: string): string;
  /** A variable in the definition's `variables`. */
  variable(name: string): string;
  /**
   * Sends a request. Any status is a response; without one, it throws a `ToolError`, and the operator's log has the reason. Redirects
   * are not followed, because the request may carry secrets.
   */
  fetch(input: string | URL | Request, init?: FetchOptions): Promise<Response>;
  /** The values that the tools of this toolkit keep in the server's key-value store. */
  readonly store: Store;
  /** The Worker's bindings. List those that the tool uses in `bindings` of its definition. */
  readonly env: Cloudflare.Env;
  /** Reports progress to the client: `done` of `total`, in any unit. `done` must grow. */
  progress(done: number, total?: number, message?: string): void;
  /** Reports an event to the client. */
  log(level: "debug" | "info" | "warning" | "error", message: string): void;
  /** Logs a warning for the operator. Never pass it secrets, tokens or input. */
  warn(event: string, details?: Record<string, string>): void;
  /** Whether the client can answer questions of this kind. */
  can(kind: "form" | "url" | "sampling" | "roots"): boolean;
  /**
   * The error to throw in order to ask questions: the client repeats the call with the answers, and the function starts again. The
   * `state`, up to 2,000 bytes as JSON, comes back with them. At most 16 questions at once.
   */
  ask(questions: Record<string, Question>, state?: unknown): Error;
  /** The answer to a question; `undefined` if there is none yet. Throws a `ToolError` if the user declined. Answers are input: check them. */
  answer<Answer = unknown>(key: string): Answer | undefined;
  /** The state that was passed to `ask`, if this is the call with the answers. */
  readonly state: unknown;
  /**
   * The task that this call runs as. If it does not run as one yet, and its client takes tasks, it throws an error that the function
   * must not catch: the client gets the task, and the function starts again as a task. The definition must have `task`.
   */
  task<State = unknown>(): Task<State>;
}

/** A call that goes on without its client, in steps that survive restarts. */
export interface Task<State = unknown> {
  /** What the last checkpoint left; `undefined` in the first step. */
  readonly resumed: State | undefined;
  /** The error to throw in order to end this step: the function runs again, and finds the state, up to 1 MiB as JSON, in `resumed`. */
  checkpoint(state: State): Error;
  /** The same, but the next step begins after so many milliseconds. */
  pause(milliseconds: number, state: State): Error;
}

export interface FetchOptions extends RequestInit {
  /** How many milliseconds to wait for the whole response: 10,000 by default. */
  timeout?: number;
  /** The longest body of a response that is read, in bytes: 1 MiB by default. */
  maxBytes?: number;
}

/**
 * The values of a toolkit by key, as JSON. All of its tools and all callers share them. A read may return a value that is a minute
 * old, and a key accepts one write per second. A failure is a `ToolError`, and the operator's log has the reason.
 */
export interface Store {
  get<Value = unknown>(key: string): Promise<Value | undefined>;
  /** `expirationTtl`: for how many seconds, at least 60. */
  put(key: string, value: unknown, options?: { expirationTtl?: number }): Promise<void>;
  delete(key: string): Promise<void>;
  /** Up to 1,000 keys, sorted, and the cursor of the next page. */
  list(prefix?: string, cursor?: string): Promise<{ keys: string[]; cursor?: string }>;
}

export type Question =
  /** Asks the user to fill in a form: JSON Schema of an object of plain fields. The answer is the object. */
  | { form: string; schema: object }
  /** Asks the user to open an address. The answer is an empty object. */
  | { url: string; message: string }
  /** Has the client's model write a message: the parameters of MCP's `sampling/createMessage`. */
  | { sampling: { messages: object[]; maxTokens: number; [parameter: string]: unknown } }
  /** Asks the client for its root folders. */
  | { roots: true };
