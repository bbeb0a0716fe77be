
/** Why a call failed (RFC 9457). */
export interface Problem {
  /** The kind of problem, such as `urn:toolbooth:invalid_input`. */
  type: string;
  title: string;
  status: number;
  /** What was wrong with this call. */
  detail?: string;
  /** What each invalid parameter must be, by its path. */
  parameter_errors?: Record<string, string>;
  /** What helps a model to correct its input. */
  prompt?: string;
  /** Whether the same call, or one with better input, may succeed. */
  can_retry?: boolean;
  /** Milliseconds to wait before the next attempt. */
  retry_after_ms?: number;
  /** Detail for a log. */
  developer_message?: string;
  /** Where the user can grant what the call lacks. */
  authorization?: { id: string; url: string; check_url?: string }[];
}

/** A call that failed. */
export class CallError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ? `${problem.title}: ${problem.detail}` : problem.title);
    this.name = "CallError";
    this.problem = problem;
  }
}

export interface ClientOptions {
  /** The address of the server, if it is not `SERVER`. */
  address?: string;
  /** An API key or a token, or a function that returns one. */
  key?: string | (() => string | Promise<string>);
  /** Replaces `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
}

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
  }

  /** Runs a tool and returns its value. Throws a `CallError` if it fails. */
  async call<Name extends keyof Tools>(name: Name, input: Tools[Name]["input"], { signal }: CallOptions = {}): Promise<Tools[Name]["output"]> {
    const { address = SERVER, key, fetch: send = fetch } = this.#options;
    const credential = typeof key === "function" ? await key() : key;
    const response = await send(`${address}/rest/${name}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      },
      body: JSON.stringify(input),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return (await response.json()) as Tools[Name]["output"];
    const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
    if (isProblem) throw new CallError((await response.json()) as Problem);
    const { status } = response;
    throw new CallError({ type: "about:blank", title: `The server responded with ${status}`, status });
  }
}
