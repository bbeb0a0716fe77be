// The fetch event: reads the body, calls into WebAssembly once, hands back what it gives.
//
// "wasm" is the module that worker-build makes. Its class carries the functions that Rust exports,
// and making an object of it after a crash starts a fresh WebAssembly instance. That is all the class
// is made for here: an object a request, with its proxies, would cost more than the call itself.
import Recovering from "wasm";

import { NOT_TEXT, TOO_LARGE, checked, undeclared } from "./body.js";

const { answer, body_limit, failed } = Recovering.prototype;
// worker-build's note to itself: a crash has happened and the instance must be replaced.
const crash = globalThis.__worker_init_state;
let limit;

export default {
  async fetch(request, env, context) {
    const { method, url, headers } = request;
    if (crash.criticalError) new Recovering(context, env);
    limit ??= body_limit(env);
    // A body that breaks off has nobody left to answer to: that error may go to the runtime. One more
    // async function around this would cost as much as a twentieth of the call.
    const length = headers.get("content-length");
    let body;
    if (length === null) body = request.body === null ? "" : await undeclared(request.body, limit);
    else if (Number(length) > limit) body = TOO_LARGE;
    else body = checked(await request.text(), Number(length));
    // Another request may have crashed meanwhile.
    if (crash.criticalError) new Recovering(context, env);
    try {
      const text = body === TOO_LARGE || body === NOT_TEXT ? undefined : body;
      const answered = answer(method, url, headers, text, body === TOO_LARGE, env);
      return answered instanceof Promise ? await orCrash(answered) : answered;
    } catch (error) {
      noteCrash(error);
      console.error("Request failed", error);
      // How a failure is told in the request's protocol, only a fresh instance can say.
      if (crash.criticalError) new Recovering(context, env);
      return failed(method, url, headers, env);
    }
  },
};

// Whatever leaves WebAssembly as an exception, such as a stack overflow, leaves it in disorder. One
// crash can be told to many requests; it costs the instance once.
const noted = new WeakSet();

function noteCrash(error) {
  if (noted.has(error)) return;
  noted.add(error);
  crash.criticalError = true;
}

// The requests that wait for I/O. When their instance ends, nothing would ever settle their
// promises: the crash is told to all of them.
const waiting = new Set();

function orCrash(answer) {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    answer.then(resolve, reject).finally(() => waiting.delete(reject));
  });
}

function crashed(error) {
  if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) return;
  noteCrash(error);
  for (const reject of waiting) reject(error);
  waiting.clear();
}
addEventListener("error", (event) => crashed(event.error));
addEventListener("unhandledrejection", (event) => crashed(event.reason));
