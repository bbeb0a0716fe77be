// The fetch event: reads a short body, calls into WebAssembly once, hands back what it gives.
//
// "wasm" is the module that worker-build makes. Its class carries the functions that Rust exports,
// and making an object of it after a crash starts a fresh WebAssembly instance. That is all the class
// is made for here: an object a request, with its proxies, would cost more than the call itself.
import Recovering from "wasm";

import { BodyReader } from "./body.js";

const { answer, failed } = Recovering.prototype;
// worker-build's note to itself: a crash has happened and the instance must be replaced.
const crash = globalThis.__worker_init_state;

// A body of at most so many bytes is read before anything else, so that the whole request is one crossing
// without a promise. A longer one, or one of unknown length, is read only for a caller who may call.
const SHORT = 8192;

export default {
  async fetch(request, env, context) {
    const { method, url, headers } = request;
    const length = headers.get("content-length");
    let body, reader;
    // A body that breaks off has nobody left to answer to: that error may go to the runtime. One more
    // async function around this would cost as much as a twentieth of the call.
    if (length !== null && Number(length) <= SHORT) body = new Uint8Array(await request.arrayBuffer());
    else reader = new BodyReader(request);
    for (;;) {
      // Another request may have crashed the instance.
      if (crash.criticalError) new Recovering(context, env);
      try {
        const answered = answer(method, url, headers, body, reader, env);
        return answered instanceof Promise ? await orCrash(answered) : answered;
      } catch (error) {
        noteCrash(error);
        // No tool has run yet for a request whose body is still arriving: it starts again.
        if (reader?.arriving) continue;
        console.error("Request failed", error);
        // Only a fresh instance can report a failure in the request's protocol.
        if (crash.criticalError) new Recovering(context, env);
        return failed(url, headers, env);
      }
    }
  },
};

// The requests that wait for I/O. When their instance ends, nothing would ever settle their promises.
const waiting = new Set();

// Whatever leaves WebAssembly as an exception, such as a stack overflow, leaves it in disorder. A crash
// ends all requests that wait, and costs the instance once.
const noted = new WeakSet();

function noteCrash(error) {
  if (noted.has(error)) return;
  noted.add(error);
  crash.criticalError = true;
  for (const reject of waiting) reject(error);
  waiting.clear();
}

function orCrash(answer) {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    answer.then(resolve, reject).finally(() => waiting.delete(reject));
  });
}

function crashed(error) {
  if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) return;
  noteCrash(error);
}
addEventListener("error", (event) => crashed(event.error));
addEventListener("unhandledrejection", (event) => crashed(event.reason));
