// How long a call takes, and how much of that WebAssembly does.
import { requestOf, start } from "./worker.mjs";

// Many short batches: whatever else the machine does passes over some of them.
const BATCHES = 600;
const CALLS = 100;

/** The least of many batches, in µs a call: `{ whole, inside }`. */
export async function timed(folder, module, env, call) {
  const { crossing, since } = watch();
  const plain = await start(folder, module, env);
  const watched = await start(folder, module, env, {
    wrapExport: crossing(true),
    wrapImport: crossing(false),
  });
  const request = requestOf(call);
  const times = { whole: Infinity, inside: Infinity };
  for (let batch = 0; batch < BATCHES; batch++) {
    const begun = performance.now();
    for (let at = 0; at < CALLS; at++) await plain.fetch(request);
    times.whole = Math.min(times.whole, performance.now() - begun);
    since();
    for (let at = 0; at < CALLS; at++) await watched.fetch(request);
    times.inside = Math.min(times.inside, since());
  }
  const one = (time) => (time * 1000) / CALLS;
  return { whole: one(times.whole), inside: one(times.inside) };
}

/** Wraps functions so that the clock is looked at wherever one side calls the other; `since` gives the
 *  time that WebAssembly took since it was asked last, in ms. */
function watch() {
  const looking = cost();
  let [inside, looks, depth, last] = [0, 0, 0, 0];
  const look = (wasInside) => {
    const now = performance.now();
    if (wasInside) inside += now - last;
    looks += 1;
    last = now;
  };
  const crossing = (intoWasm) => (original) => (...values) => {
    look(!intoWasm && depth > 0);
    depth += 1;
    try {
      return original(...values);
    } finally {
      depth -= 1;
      look(intoWasm);
    }
  };
  const since = () => {
    // Half of the times between two looks are inside, and each holds one look.
    const time = inside - (looks / 2) * looking;
    [inside, looks] = [0, 0];
    return time;
  };
  return { crossing, since };
}

/** What a look at the clock costs, in ms. */
function cost() {
  const LOOKS = 100_000;
  const begun = performance.now();
  for (let at = 0; at < LOOKS; at++) performance.now();
  return (performance.now() - begun) / LOOKS;
}
