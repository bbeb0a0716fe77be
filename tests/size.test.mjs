// The sizes of Workers, built as they would be deployed: those of docs/SIZE.md that have a budget.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { BUDGET } from "../bench/budget.mjs";
import { catalogue } from "../bench/tools.mjs";
import { root, run } from "./support/commands.mjs";
import { SAMPLES } from "./support/worker.mjs";

/** Asserts that the bundle in a folder has at most so many KB. */
async function fits(folder, budget) {
  const { out } = await run("cat worker.js index_bg.wasm | gzip -9 | wc -c", { cwd: folder });
  const kilobytes = Number(out) / 1000;
  assert.ok(kilobytes > 0 && kilobytes <= budget, `${folder}: ${kilobytes} KB gzip; the budget is ${budget} KB`);
}

test("the sample tools fit their budget, with all capabilities", () => fits(join(root, SAMPLES), BUDGET.everything));

// Its dependencies have been compiled for the sample tools, so this takes less than a minute.
test("the calculator fits its budgets, over MCP alone and without any capability", async () => {
  const build = (name, capabilities) => catalogue(name, ["tests/samples/calculator"], { capabilities });
  await fits(await build("size-mcp", ["MCP"]), BUDGET.mcp);
  await fits(await build("size-none", []), BUDGET.none);
});
