/** Calls tools as clients do, on workerd: for tests that `toolbooth test` runs. */

/** What a test of vitest or `node:test` gets as its argument. */
type TestContext = { onTestFinished(end: () => Promise<void>): void } | { after(end: () => Promise<void>): void };

export interface Options {
  /** The scopes of the caller; otherwise it has all. */
  scopes?: string[];
  /** The user on whose behalf the calls are made. */
  user?: string;
  /** The user's tokens, by provider. */
  tokens?: Record<string, string>;
  /** The secrets that the client sends. */
  secrets?: Record<string, string>;
  /** Variables and secrets of the operator. Otherwise, secrets and required variables are made up. */
  variables?: Record<string, string>;
  /** Responds to the requests of tools. A request without a response fails the test. */
  upstream?(request: Request): Response | undefined | Promise<Response | undefined>;
}

export type Outcome =
  | { value: any; error?: undefined; rejected?: undefined }
  | { error: { message: string; [member: string]: unknown }; value?: undefined; rejected?: undefined }
  | { rejected: { status: number; [member: string]: unknown }; value?: undefined; error?: undefined };

export class ToolTest {
  /** Starts the Worker with empty storage and the tables of the migrations. It ends with the test. */
  static start(test: TestContext, options?: Options): Promise<ToolTest>;
  /** The requests that tools have sent. */
  requests: { method: string; url: string; headers: Record<string, string>; body: string }[];
  /** The Worker's bindings. */
  env(): Promise<Cloudflare.Env>;
  /** The problems that were logged for the operator, and requests without a response. */
  log(): string;
  /** Calls a tool by its id, with or without a version. */
  call(tool: string, input?: unknown): Promise<Outcome>;
  /** The value that a tool returns. Any other outcome fails the test. */
  value(tool: string, input?: unknown): Promise<any>;
  /** The error that a tool returns. Any other outcome fails the test. */
  error(tool: string, input?: unknown): Promise<{ message: string; [member: string]: unknown }>;
  /** Calls a tool by a name that models see. Returns the keys of its questions. */
  asks(name: string, input?: unknown): Promise<string[]>;
}
