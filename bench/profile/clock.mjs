// How long a call takes, and how much of that WebAssembly does.
import { start } from "./worker.mjs";

const BATCHES = 60;
const CALLS = 1000;

/** The least of many batches, in µs a call: `{ whole, inside }`. */
export async function timed(folder, module, env, call) {
  const plain = await start(folder, module, env);
  const whole = await least(async () => {
    const begun = performance.now();
    for (let at = 0; at < CALLS; at++) await plain.send(call);
    return performance.now() - begun;
  });

  // The same with a look at the clock wherever one side calls the other.
  const sides = { inside: 0, switches: 0 };
  let depth = 0;
  let last = 0;
  const look = (inside) => {
    const now = performance.now();
    if (inside) sides.inside += now - last;
    sides.switches += 1;
    last = now;
  };
  const crossing = (entersWasm) => (original) => (...values) => {
    look(!entersWasm && depth > 0);
    depth += 1;
    try {
      return original(...values);
    } finally {
      depth -= 1;
      look(entersWasm);
    }
  };
  const watched = await start(folder, module, env, {
    wrapExport: crossing(true),
    wrapImport: crossing(false),
  });
  const looking = cost();
  const inside = await least(async () => {
    Object.assign(sides, { inside: 0, switches: 0 });
    for (let at = 0; at < CALLS; at++) await watched.send(call);
    // Half of the intervals lie inside, and each holds one look.
    return sides.inside - (sides.switches / 2) * looking;
  });
  return { whole, inside };
}

async function least(batch) {
  const times = [];
  for (let at = 0; at < BATCHES; at++) times.push(await batch());
  return (Math.min(...times) * 1000) / CALLS;
}

/** What a look at the clock costs, in ms. */
function cost() {
  const LOOKS = 100_000;
  const begun = performance.now();
  for (let at = 0; at < LOOKS; at++) performance.now();
  return (performance.now() - begun) / LOOKS;
}
