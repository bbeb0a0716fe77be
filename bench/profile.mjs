// Takes calls apart: where their instructions go, what they allocate, and how long they take without
// workerd. Its first argument is the bundle, whose WebAssembly must have names.
//   node bench/profile.mjs BUNDLE               everything; writes docs/PROFILE.md
//   node bench/profile.mjs BUNDLE --tree OXP    which functions that call runs, one below another
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ROOT } from "./paths.mjs";
import { CALLS } from "./profile/calls.mjs";
import { timed } from "./profile/clock.mjs";
import { document } from "./profile/document.mjs";
import { counting, tracer } from "./profile/trace.mjs";

/** As many calls until everything that is made once has been made. */
const WARMUP = 5;
const LEAST_SHOWN = 100;

const [folder, option, wanted] = process.argv.slice(2);
const bytes = await readFile(join(folder, "index_bg.wasm"));
const module = counting(bytes);
const variables = { ALLOWED_ORIGINS: "", MAX_BODY_BYTES: "262144" };

async function traced({ title, status, env, request }) {
  const trace = await tracer(folder, module, { ...variables, ...env });
  for (let at = 0; at < WARMUP; at++) await trace(request);
  const [first, second] = [await trace(request), await trace(request)];
  if (first.status !== status) throw new Error(`${title}: ${first.status} in the place of ${status}`);
  if (JSON.stringify(first) !== JSON.stringify(second)) throw new Error(`${title}: two calls differ`);
  return first.root;
}

if (option === "--tree") {
  const call = CALLS.find(({ title }) => title === wanted);
  if (call === undefined) throw new Error(`the calls are ${CALLS.map(({ title }) => title).join(", ")}`);
  show(await traced(call), 0);
} else {
  const plain = new WebAssembly.Module(bytes);
  const results = [];
  for (const call of CALLS) {
    const root = await traced(call);
    const time = await timed(folder, plain, { ...variables, ...call.env }, call.request);
    results.push({ title: call.title, bytes: call.request.body.length, root, ...time });
  }
  const text = document(results);
  console.log(text);
  await writeFile(join(ROOT, "docs/PROFILE.md"), text);
}

/** Prints a node: its instructions with those of all that it calls, its own, and its name. */
function show(node, depth) {
  const sum = total(node);
  if (sum < LEAST_SHOWN) return;
  console.log(`${String(sum).padStart(8)} ${String(node.self).padStart(8)} ${"  ".repeat(depth)}${node.name}`);
  for (const child of node.children) show(child, depth + 1);
}

function total({ self, children }) {
  return children.reduce((sum, child) => sum + total(child), self);
}
