// Takes calls apart: where their instructions go, what they allocate, and how long they take without
// workerd. Its first argument is the deployed bundle, but with the names of functions; WASM_OPT_BIN must
// be what leaves them in.
//   node bench/profile.mjs BUNDLE               everything; writes docs/PROFILE.md
//   node bench/profile.mjs BUNDLE --tree OXP    which functions that call runs, one below another
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ROOT } from "./paths.mjs";
import { CALLS } from "./profile/calls.mjs";
import { timed } from "./profile/clock.mjs";
import { document } from "./profile/document.mjs";
import { byStage, unseen } from "./profile/stages.mjs";
import { counting, tracer } from "./profile/trace.mjs";
import { catalogue } from "./tools.mjs";

/** As many calls until everything that is made once has been made. */
const AGAIN = 24;
const WARMUP = 5;
const LEAST_SHOWN = 100;

const [deployed, option, wanted] = process.argv.slice(2);
const variables = { ALLOWED_ORIGINS: "", MAX_BODY_BYTES: "262144" };
const bundles = {
  deployed: await bundle(deployed),
  order: await bundle(await catalogue("profile-order", ["bench/order"])),
};

async function bundle(folder) {
  const bytes = await readFile(join(folder, "index_bg.wasm"));
  return { folder, module: new WebAssembly.Module(bytes), counting: counting(bytes) };
}

async function traced({ title, bundle, status, env, request }) {
  const { folder, counting } = bundles[bundle];
  const trace = await tracer(folder, counting, { ...variables, ...env });
  for (let at = 0; at < WARMUP; at++) await trace(request);
  // Not every call finds the free memory in the same pieces: what counts is one that comes again.
  const seen = new Set();
  for (let at = 0; at < AGAIN; at++) {
    const { status: got, root } = await trace(request);
    if (got !== status) throw new Error(`${title}: ${got} in the place of ${status}`);
    const counts = JSON.stringify(root);
    if (seen.has(counts)) return root;
    seen.add(counts);
  }
  throw new Error(`${title}: no two of ${AGAIN} calls are the same`);
}

if (option === "--tree") {
  const call = CALLS.find(({ title }) => title === wanted);
  if (call === undefined) throw new Error(`the calls are ${CALLS.map(({ title }) => title).join(", ")}`);
  show(await traced(call), 0);
} else {
  const results = [];
  for (const call of CALLS) {
    const root = await traced(call);
    const { folder, module } = bundles[call.bundle];
    const time = await timed(folder, module, { ...variables, ...call.env }, call.request);
    results.push({ title: call.title, bytes: call.request.body.length, root, stages: byStage(root), ...time });
  }
  const missing = unseen(results.map(({ stages }) => stages));
  if (missing.length > 0) throw new Error(`no function of a call belongs to: ${missing.join(", ")}`);
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
