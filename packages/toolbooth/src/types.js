// The types of tools and views in TypeScript. wrangler generates those of the Worker's bindings and of its runtime, and the build those
// of each tool's input and value.
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { files } from "./catalogue.js";
import { fromNpm } from "./programs.js";
import { Failure, output } from "./process.js";
import { scripts } from "./scripts.js";
import { textOf } from "./texts.js";

const CONFIGURATION = "tsconfig.json";
/** Where `wrangler types` writes, and what it reads. */
const GENERATED = "worker-configuration.d.ts";
const BINDINGS = ["wrangler.toml", ".dev.vars", ".env"];
const DEFAULT = { extends: "toolbooth/tsconfig.json", include: ["tools/**/*.ts", GENERATED] };

/** Views run in browsers, which have other types than the Worker. */
const OF_VIEWS = "tsconfig.views.json";
const DEFAULT_OF_VIEWS = { extends: "toolbooth/tsconfig.view.json", include: ["tools/**/*.tsx"] };

/** Writes the configuration of the type checker beside the folder of a catalogue, unless there is one. */
export function addConfiguration(folder) {
  const path = join(dirname(folder), CONFIGURATION);
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(DEFAULT, null, 2)}\n`);
}

/** What the type checker reports about the project, which has been built; "" if it finds nothing wrong. `options` are those of its process. */
export async function typeErrors(options = {}) {
  const functions = scripts().length > 0 ? await checked(CONFIGURATION, DEFAULT, options, generate) : "";
  // Those of shipped toolkits are not the project's to check.
  const pages = files(/\.tsx$/).length > 0 ? await checked(OF_VIEWS, DEFAULT_OF_VIEWS, options) : "";
  return [functions, pages].filter(Boolean).join("\n");
}

/** What the type checker reports with a configuration, after `prepare`. */
async function checked(configuration, otherwise, options, prepare) {
  if (!existsSync(configuration)) return `There is no ${configuration}. Write it: ${JSON.stringify(otherwise)}`;
  await prepare?.();
  const program = fromNpm("typescript", "tsc");
  const { code, out, err } = await output(process.execPath, [program, "--project", configuration, "--pretty", `${Boolean(process.stderr.isTTY)}`], options);
  return code === 0 ? "" : `${out}${err}`.trim();
}

/** Fails with the errors in the types of the project. */
export async function checkTypes() {
  const errors = await typeErrors();
  if (errors) throw new Failure(errors);
}

/** Generates the types of the bindings, unless they are newer than what describes the bindings. */
async function generate() {
  const time = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (!existsSync(BINDINGS[0]) || time(GENERATED) > Math.max(...BINDINGS.map(time))) return;
  // With a build or an entry point in its configuration, wrangler would build the Worker first. Paths in it are relative to its folder.
  const copy = `.types-${process.pid}.${BINDINGS[0]}`;
  const remove = () => rmSync(copy, { force: true });
  process.once("exit", remove);
  writeFileSync(copy, textOf(BINDINGS[0]).replace(/^\[build\](?:\n(?!\[).*)*/m, "").replace(/^main = .*/m, ""));
  try {
    const env = { ...process.env, WRANGLER_SEND_METRICS: process.env.WRANGLER_SEND_METRICS ?? "false" };
    const args = [fromNpm("wrangler", "wrangler"), "types", GENERATED, "--config", copy, "--strict-vars=false"];
    const { code, out, err } = await output(process.execPath, args, { env });
    if (code !== 0) throw new Failure(`wrangler types failed:\n${`${out}${err}`.trim()}`);
  } finally {
    remove();
    process.off("exit", remove);
  }
}
