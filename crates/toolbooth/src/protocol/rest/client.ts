
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

/** A call that goes on without its client. */
interface Task {
  id: string;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  value?: unknown;
  problem?: Problem;
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
    const request = (path: string, init: RequestInit) =>
      send(`${address}${path}`, {
        ...init,
        headers: {
          "content-type": "application/json",
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
        },
        ...(signal ? { signal } : {}),
      });
    const response = await request(`/rest/${name}`, { method: "POST", body: JSON.stringify(input) });
    // A long call goes on as a task.
    if (response.status === 202) return this.#ended((await response.json()) as Task, request) as Promise<Tools[Name]["output"]>;
    if (response.ok) return (await response.json()) as Tools[Name]["output"];
    throw await this.#failure(response);
  }

  /** The value of a task, when it has ended. */
  async #ended(task: Task, request: (path: string, init: RequestInit) => Promise<Response>): Promise<unknown> {
    let seconds = 1;
    while (task.status === "working") {
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      const response = await request(`/tasks/${task.id}`, { method: "GET" });
      seconds = Number(response.headers.get("retry-after") ?? 1);
      // The task goes on.
      if (response.status === 429 || response.status === 503) continue;
      if (!response.ok) throw await this.#failure(response);
      task = (await response.json()) as Task;
    }
    if (task.status === "completed" && !task.problem) return task.value;
    throw new CallError(task.problem ?? { type: "about:blank", title: `The call is ${task.status}`, status: 500 });
  }

  async #failure(response: Response): Promise<CallError> {
    const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
    if (isProblem) return new CallError((await response.json()) as Problem);
    const { status } = response;
    return new CallError({ type: "about:blank", title: `The server responded with ${status}`, status });
  }
}
