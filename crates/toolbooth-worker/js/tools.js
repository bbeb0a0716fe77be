// Runs functions of tools in JavaScript. Rust calls them with JSON and gets a promise of their report, which is JSON.
//
// None of their code runs while WebAssembly is on the stack: the runtime can end the execution of a function at any point, without an
// exception, and WebAssembly that is in the middle of a call would stay there for every later request.
import "./process.js";
import { env } from "cloudflare:workers";
import { ToolError } from "toolbooth";
import * as log from "./log.js";
import { read } from "./send.js";
import { ask } from "./service.js";
import { Store } from "./store.js";
import { described } from "./thrown.js";

// A package may replace what is global. These are from before.
const { clearTimeout, setTimeout } = globalThis;

/** How long a request waits, in milliseconds, and the longest response, in bytes: the same as in Rust. */
const TIMEOUT = 10_000;
const MAX_BYTES = 1 << 20;
/** The most notifications that wait to be passed on. */
const MOST = 100;
/** Statuses of responses that have no body. */
const BODILESS = [101, 204, 205, 304];

/**
 * Makes functions callable by their names: each is a function, or a promise of the module that exports it. A module that fails concerns its
 * own function only. Rust finds them by this name.
 */
export function register(functions) {
  const found = Object.fromEntries(Object.entries(functions).map(([name, it]) => [name, typeof it === "function" ? { run: it } : loading(name, it)]));
  globalThis.__toolbooth_tools = { call: (name, input, given, limit, env, isHeard) => call(found[name], input, new Context(given, limit, env), isHeard) };
}

/** What `register` knows of a module: `loaded` while it loads, then what it exports as `run`, or the `problem`. */
function loading(name, module) {
  const found = {};
  const settle = (more) => void Object.assign(found, { loaded: undefined }, more);
  found.loaded = module.then(
    ({ default: run }) => settle({ run }),
    (problem) => {
      settle({ problem });
      logged({ event: "module_failed", module: name, problem: described(problem, env.DEVELOPMENT === "true") });
    },
  );
  return found;
}

/** The function of the tools that the Worker with this binding runs. */
export function service(name) {
  return async (input, context) => {
    const { value, error, refused } = await ask(context.env, name, input, context[GIVEN], context[LIMIT], warn);
    if (error !== undefined) throw new ToolError(error?.message ?? "The tool failed", error ?? {});
    if (refused !== undefined) throw context.tokenRefused(`${refused}`);
    return value;
  };
}

/** A promise of the report of a run; if `isHeard`, an object whose `next` returns promises of reports, of which all but the last say that it `runs`. */
function call(found, input, context, isHeard) {
  const report = soon(() => runner.toolboothRun(found, input, context));
  if (!isHeard) return report;
  report.then((report) => context[END](report));
  return { next: () => context[NEXT]() };
}

// It belongs to no request, so it outlives each.
const resolved = Promise.resolve();

/** What `run` returns, after the code that runs now. */
const soon = (run) => resolved.then(run);

/** The names of the methods mark the end of the frames of a tool in a stack: minification keeps them. */
const runner = {
  /** A promise of the report of a run. It does not reject. */
  async toolboothRun(found, input, context) {
    try {
      if (found.loaded) await this.toolboothWait(found.loaded, context);
      if ("problem" in found) throw found.problem;
      const { run } = found;
      if (typeof run !== "function") throw new TypeError("the default export is not a function");
      const value = run(JSON.parse(input), context);
      // A function that does not wait needs no timer.
      return context[REPORT]({ value: typeof value?.then === "function" ? await this.toolboothWait(value, context) : value });
    } catch (error) {
      return ended(error, context);
    }
  },

  /** What the promise resolves to within the limit of the run. */
  async toolboothWait(promise, context) {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Late()), context[LIMIT])));
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  },
};

/** The report of a run that threw. What it threw may itself be no JSON, such as a state that refers to itself. */
function ended(error, context) {
  try {
    return context[REPORT](failed(error, context));
  } catch (other) {
    return context[REPORT](crashed(other, context));
  }
}

const REPORT = Symbol("toolboothReport");
const NEXT = Symbol("next");
const END = Symbol("end");
const GIVEN = Symbol("given");
const LIMIT = Symbol("limit");

/** The context of one run: docs/TOOLS.md describes it. */
class Context {
  // Private: a function that writes its context as JSON shows neither tokens nor secrets.
  #text;
  #given;
  #limit;
  #notifications = [];
  // The report of the run when it has ended, and what waits for the next report.
  #end;
  #resolve;
  #store;
  #env;

  constructor(text, limit, env) {
    this.#text = text;
    this.#limit = limit;
    this.#env = env;
  }

  /** How long the run may take, in milliseconds. */
  get [LIMIT]() {
    return this.#limit;
  }

  /** What Rust gives. Most functions need none of it. */
  get [GIVEN]() {
    return (this.#given ??= JSON.parse(this.#text));
  }

  get env() {
    return this.#env;
  }

  get user() {
    return this[GIVEN].user;
  }

  token(provider) {
    return this.#named("tokens", provider, "requirements.authorization");
  }

  tokenRefused(provider) {
    return new Refused(provider);
  }

  secret(name) {
    return this.#named("secrets", name, "variables or requirements.secrets");
  }

  variable(name) {
    return this.#named("variables", name, "variables");
  }

  #named(kind, name, place) {
    const values = this[GIVEN][kind] ?? {};
    if (!Object.hasOwn(values, name)) throw new Error(`${name} is not in ${place} of the definition`);
    return values[name];
  }

  async fetch(input, { timeout = TIMEOUT, maxBytes = MAX_BYTES, ...init } = {}) {
    const limit = AbortSignal.timeout(timeout);
    const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit;
    // An invalid request is a mistake of the tool.
    const request = new Request(input, { ...init, redirect: "manual", signal });
    const { traceparent, tool } = this[GIVEN];
    if (traceparent) request.headers.set("traceparent", traceparent);
    const unanswered = (problem, message) => {
      warn("http", { tool, problem });
      return new ToolError(message);
    };
    try {
      const response = await fetch(request);
      // The length of a response to HEAD is that of a body which does not come.
      const { bytes, isCut } = request.method === "HEAD" ? { bytes: null, isCut: false } : await read(response, maxBytes);
      if (isCut) throw unanswered("the response is too large", "The service's response was too large");
      const { status, statusText, headers } = response;
      return new Response(BODILESS.includes(status) ? null : bytes, { status, statusText, headers: decoded(headers) });
    } catch (error) {
      if (error instanceof ToolError) throw error;
      if (limit.aborted) throw unanswered("no response in time", "The service did not respond in time");
      if (init.signal?.aborted) throw error;
      throw unanswered(`unreachable: ${error.message}`, "The service could not be reached");
    }
  }

  get store() {
    return (this.#store ??= new Store(this.env.KV, this[GIVEN].tool, warn));
  }

  progress(done, total, text = "") {
    const number = (value) => (Number.isFinite(Number(value)) ? Number(value) : undefined);
    const counted = number(done);
    // As in Rust: what is not a number is no progress.
    if (counted !== undefined) this.#notify({ done: counted, total: total == null ? undefined : number(total), text: `${text}` });
  }

  log(level, text) {
    this.#notify({ level: `${level}`, text: `${text}` });
  }

  #notify(notification) {
    if (this.#notifications.length < MOST) this.#notifications.push(notification);
    this.#pass();
  }

  /** A promise of what the run reports next, or of its report when it has ended. */
  [NEXT]() {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#pass();
    });
  }

  [END](report) {
    this.#end = report;
    this.#pass();
  }

  /** Passes on what has been reported, if somebody waits for it. */
  #pass() {
    if (!this.#resolve || (this.#end === undefined && this.#notifications.length === 0)) return;
    this.#resolve(this.#end ?? this[REPORT]({ runs: true }));
    this.#resolve = undefined;
  }

  warn(event, details = {}) {
    warn(event, { tool: this[GIVEN].tool, ...details });
  }

  can(kind) {
    return this[GIVEN].can?.includes(kind) ?? false;
  }

  ask(questions, state) {
    return new Asks(Object.fromEntries(Object.entries(questions).map(([key, question]) => [key, written(question)])), state);
  }

  answer(key) {
    const answers = this[GIVEN].answers ?? {};
    if (!Object.hasOwn(answers, key)) return undefined;
    const answer = answers[key];
    if (answer === "declined") throw new ToolError("The user declined to answer");
    if (answer === "dismissed") throw new ToolError("The user did not answer");
    return answer.given;
  }

  get state() {
    return this[GIVEN].state;
  }

  task() {
    const { stage, checkpoint } = this[GIVEN];
    if (stage === "request") throw new Suspends({ begin: true });
    return {
      resumed: checkpoint?.[0],
      checkpoint: (value) => new Suspends({ value }),
      pause: (after, value) => new Suspends({ value, after_ms: Number(after) }),
    };
  }

  [REPORT](end) {
    if (this.#notifications.length > 0) end.notifications = this.#notifications;
    const report = wellFormed(JSON.stringify(end));
    this.#notifications = [];
    return report;
  }
}

/**
 * JSON that Rust can read. Half of a surrogate pair, such as the end of a text that was cut within an emoji, is an escape in JSON, and
 * becomes U+FFFD. The pairs of backslashes are matched so that the one before `ud83d` in the text of a tool is not taken for an escape.
 */
function wellFormed(json) {
  return json.includes("\\ud") ? json.replace(/\\\\|\\ud[89a-f]../g, (escape) => (escape.length === 2 ? escape : "\ufffd")) : json;
}

/** The run took longer than its limit. */
class Late extends Error {}

/** Thrown to end a run without a value or an error of the tool. */
class Refused extends Error {
  constructor(provider) {
    super("The authorization is no longer valid");
    this.provider = provider;
  }
}

class Asks extends Error {
  constructor(questions, state) {
    super("The tool needs input");
    Object.assign(this, { questions, state });
  }
}

class Suspends extends Error {
  constructor(how) {
    super("The tool continues later");
    this.how = how;
  }
}

/** The report of a run that threw. */
function failed(error, context) {
  if (error instanceof ToolError) {
    const { message, prompt, retryAfter, retryable, detail } = error;
    const text = (value) => (value == null ? undefined : `${value}`);
    // A header that is absent is null, which is no reason to try again at once.
    const delay = retryAfter == null ? undefined : Number(retryAfter);
    return { error: { message: `${message}`, prompt: text(prompt), detail: text(detail), retryable: Boolean(retryable), retry_after_ms: delay } };
  }
  if (error instanceof Refused) return { refused: error.provider };
  if (error instanceof Asks) {
    const { questions, state } = error;
    return { asks: { questions, state } };
  }
  if (error instanceof Suspends) return { suspends: error.how };
  if (error instanceof Late) {
    warn("tool_timeout", { tool: context[GIVEN].tool, problem: `no value within ${context[LIMIT]} ms` });
    return { error: { message: "The tool did not respond in time" } };
  }
  return crashed(error, context);
}

function crashed(error, context) {
  const { tool } = context[GIVEN];
  logged({ event: "tool_crashed", tool, problem: described(error, context.env.DEVELOPMENT === "true") });
  return { crashed: true };
}

/** A question as Rust reads it. */
function written({ form, schema, url, message, sampling }) {
  if (form !== undefined) return { kind: "form", message: form, object: schema };
  if (url !== undefined) return { kind: "url", message, url };
  if (sampling !== undefined) return { kind: "sampling", object: sampling };
  return { kind: "roots" };
}

function warn(event, details) {
  log.warn(JSON.stringify({ event, ...details }));
}

function logged(line) {
  log.error(JSON.stringify(line));
}

/** The headers of a response whose body is decoded. */
function decoded(headers) {
  const copy = new Headers(headers);
  for (const name of ["content-encoding", "content-length"]) copy.delete(name);
  return copy;
}
