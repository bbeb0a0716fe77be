// The fetch handler: reads a short body, calls into WebAssembly once, and returns the response.
//
// "wasm" is the module that wasm-bindgen generates: the functions that Rust exports, and one that replaces the WebAssembly
// instance that they belong to.
import { __wbg_reset_state as replaceInstance, answer, cancel, failed, log_warnings as logWarnings, run_step as runStep } from "wasm";

import { BodyReader } from "./body.js";
import { site } from "./site.js";
import { tasksThat } from "./tasks.js";
import { UPLOAD } from "./upload.js";

export { Ledger } from "./ledger.js";

// Whether the instance has crashed and must be replaced. The object is that of crash.js, or of the `worker` crate.
const crash = globalThis.__worker_init_state;

// A crash in WebAssembly is deeper than the ten frames that V8 records.
Error.stackTraceLimit = 100;

// The longest body, in bytes, that is read before anything else, so that the whole request is a single
// synchronous call. Longer bodies, and those of unknown length, are read only for authorized callers.
const SHORT = 8192;

export default {
  fetch(request, env, context) {
    const mayBePage = env.ASSETS !== undefined && (request.method === "GET" || request.method === "HEAD");
    return mayBePage ? site(request, env, () => serve(request, env, context)) : serve(request, env, context);
  },
};

// The number of the latest request or step. WebAssembly knows by it which of them is meant.
let latest = 0;

async function serve(request, env, context) {
  const { method, url, headers } = request;
  const id = (latest += 1);
  const length = headers.get("content-length");
  let body, reader;
  // If the body breaks off, the client is gone, so the error may go to the runtime. Another async
  // function around this would cost a twentieth of the call.
  if (length !== null && Number(length) <= SHORT) body = new Uint8Array(await request.arrayBuffer());
  else reader = new BodyReader(request);
  for (;;) {
    // Another request may have crashed the instance.
    recover();
    try {
      let response = answer(id, method, url, headers, body, reader, env);
      if (response instanceof Promise) {
        response = await orCrash(response, id, request.signal);
        const upload = response[UPLOAD];
        // If the client goes, the runtime would drop the writer, without a line in the log.
        if (upload) context.waitUntil(orAbort(upload));
      }
      if (!hasWarned) {
        hasWarned = true;
        context.waitUntil(warn(env));
      }
      return response;
    } catch (error) {
      recordCrash(error);
      // No tool has run yet for a request whose body is still arriving: retry it.
      if (reader?.arriving) continue;
      console.error("Request failed", error);
      // Only a new instance can report a failure in the request's protocol.
      recover();
      return failed(url, headers, body, env);
    }
  }
}

// Whether this isolate has logged what the operator should know about its configuration.
let hasWarned = false;

/** Logs it after the response, which need not wait for it: a microtask would run before that is sent. */
async function warn(env) {
  await scheduler.wait(0);
  recover();
  try {
    logWarnings(env);
  } catch (error) {
    recordCrash(error);
    console.error("The warnings failed", error);
  }
}

/** Runs a step of a task, in the object that keeps it. Undefined if the instance has crashed meanwhile. */
async function step(text, env) {
  const id = (latest += 1);
  recover();
  try {
    return await orCrash(runStep(id, text, env), id);
  } catch (error) {
    recordCrash(error);
    console.error("A step of a task failed", error);
  }
}

/** The Durable Objects of tasks. */
export const Tasks = tasksThat(step);

/** Replaces the instance if it has crashed. */
function recover() {
  if (!crash.criticalError) return;
  replaceInstance();
  crash.criticalError = false;
}

// The requests waiting for I/O. After a crash nothing would ever settle their promises.
const waiting = new Set();

// Any exception that leaves WebAssembly, such as a stack overflow, leaves it in an undefined state. A crash
// rejects all waiting requests and is recorded once, because several of them may report it.
const recorded = new WeakSet();

function recordCrash(error) {
  if (recorded.has(error)) return;
  recorded.add(error);
  crash.criticalError = true;
  for (const reject of waiting) reject(error);
  waiting.clear();
  for (const upload of uploads) upload.abort(error);
}

/**
 * What `response` resolves to; throws if WebAssembly crashes meanwhile. If the client of the request `id` goes, which `signal` says,
 * the runtime ends the request: what it waits for never comes, so WebAssembly must not keep it, nor this code its promise.
 */
function orCrash(response, id, signal) {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    response.then(resolve, reject).finally(() => waiting.delete(reject));
    signal?.addEventListener("abort", () => {
      // A response that is being written ends by itself.
      if (!waiting.delete(reject)) return;
      try {
        cancel(id);
      } catch (error) {
        recordCrash(error);
      }
    });
  });
}

// The bodies that are being written. After a crash nothing would ever end them.
const uploads = new Set();

function orAbort(upload) {
  uploads.add(upload);
  return upload.written.finally(() => uploads.delete(upload));
}

// What a function in JavaScript leaves unhandled does not concern the instance, which is never below it on the stack. An overflow of the
// stack does, if it was WebAssembly that filled it.
function onUncaught(error) {
  const isOverflow = error instanceof RangeError && error.message === "Maximum call stack size exceeded" && /\bwasm\b/.test(error.stack);
  if (!(error instanceof WebAssembly.RuntimeError || isOverflow)) return;
  recordCrash(error);
}
addEventListener("error", (event) => onUncaught(event.error));
addEventListener("unhandledrejection", (event) => onUncaught(event.reason));
