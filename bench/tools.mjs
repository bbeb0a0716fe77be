// Builds catalogues of any size from Calculator.Add, the tool of the realistic call, and generated tools.
// They are ordinary crates, built like the deployed one, with path dependencies on this workspace.
import { spawnSync } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { ROOT, SCRATCH } from "./paths.mjs";
import { SCHEMAS } from "./schemas.mjs";

/** All capabilities. */
const CAPABILITIES = ["ACCOUNT", "CHALLENGES", "GATEWAY", "MCP", "PROVIDERS", "REST", "SEARCH", "SIGN_IN", "TASKS", "USAGE", "XAIBO"];
const TOOLKIT_SIZE = 25;
/** The files that a catalogue depends on. */
const INPUTS =
  "{Cargo.toml,Cargo.lock,rust-toolchain.toml,packages/toolbooth/src/*,crates/**,tests/samples/calculator/*,bench/order/*,bench/workers/tools/*,bench/{tools,schemas}.mjs}";

/** The toolkit of tools in TypeScript, whose functions are those of bench/workers/tools. */
export const SCRIPTED = "Scripted";
/** Its tools: the definition of each, and the module of its function. */
const SCRIPTS = { add: "tests/samples/calculator/Add@1.0.0.json", order: "bench/order/Price@1.0.0.json" };

/** Builds a catalogue unless it is up to date, and returns the folder of its bundle. It has the toolkits of
 *  these folders and `generated` generated tools, and serves these `capabilities`; with `bindings` it has that feature of
 *  `toolbooth-worker`, and with `scripted` the tools in TypeScript. */
export async function catalogue(name, folders, { generated = 0, capabilities = CAPABILITIES, bindings = false, scripted = false } = {}) {
  const crate = join(SCRATCH, name);
  const bundle = join(SCRATCH, `${name}-bundle`);
  if ((await newest(INPUTS, ROOT)) < (await newest("index_bg.wasm", bundle))) return bundle;
  await rm(crate, { recursive: true, force: true });
  for (const [path, contents] of await files(name, folders, generated, capabilities, bindings)) {
    await mkdir(dirname(join(crate, path)), { recursive: true });
    await writeFile(join(crate, path), contents);
  }
  for (const folder of folders) {
    await cp(join(ROOT, folder), join(crate, basename(folder)), { recursive: true });
  }
  for (const [path, contents] of scripted ? await scripts() : []) {
    await mkdir(dirname(join(crate, path)), { recursive: true });
    await writeFile(join(crate, path), contents);
  }
  await cp(join(ROOT, "Cargo.lock"), join(crate, "Cargo.lock"));
  // Share the target folder, so that common dependencies are compiled once.
  const env = { ...process.env, CARGO_TARGET_DIR: join(ROOT, "target"), TOOLS: join(ROOT, ".tools/bin") };
  const script = join(ROOT, "packages/toolbooth/bin/toolbooth.js");
  const { status } = spawnSync(process.execPath, [script, "build", "--crate", crate, "--out", bundle], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`building the catalogue ${name} failed`);
  return bundle;
}

/** The modification time of the newest matching file; 0 if there is none. */
async function newest(pattern, cwd) {
  let time = 0;
  for await (const path of glob(pattern, { cwd })) {
    time = Math.max(time, (await stat(join(cwd, path))).mtimeMs);
  }
  return time;
}

async function files(name, folders, generated, capabilities, bindings) {
  const toolkits = Map.groupBy(
    Array.from({ length: generated }, (_, number) => number),
    toolkit,
  );
  return [
    ["Cargo.toml", await manifest(name, bindings)],
    ["build.rs", "fn main() -> std::process::ExitCode {\n    toolbooth_build::build()\n}\n"],
    ["lib.rs", library([...folders.map((folder) => basename(folder)), ...toolkits.keys()], capabilities)],
    ...[...toolkits].flatMap(([name, numbers]) => [
      [`${name.toLowerCase()}/mod.rs`, handlers(numbers)],
      ...numbers.map((number) => [
        `${name.toLowerCase()}/Tool${number}@1.0.0.json`,
        JSON.stringify(definition(number), null, 2),
      ]),
    ]),
  ];
}

/** The files of the tools in TypeScript: those in Rust by other names. */
async function scripts() {
  const files = Object.entries(SCRIPTS).map(async ([module, path]) => {
    const definition = JSON.parse(await readFile(join(ROOT, path), "utf8"));
    const [, tool, version] = /^\w+\.(\w+)@(.+)$/.exec(definition.id);
    const renamed = { ...definition, id: `${SCRIPTED}.${tool}@${version}`, name: `${SCRIPTED}_${tool}` };
    const code = `import { tool } from "toolbooth";\nimport { run } from ${JSON.stringify(join(ROOT, `bench/workers/tools/${module}.mjs`))};\n\nexport default tool(run);\n`;
    const folder = SCRIPTED.toLowerCase();
    return [[`${folder}/${tool}@${version}.json`, JSON.stringify(renamed)], [`${folder}/${tool.toLowerCase()}.ts`, code]];
  });
  return (await Promise.all(files)).flat();
}

const toolkit = (number) => `Kit${Math.floor(number / TOOLKIT_SIZE)}`;

/** A separate workspace with the versions and the profile of this one. */
async function manifest(name, bindings) {
  const sections = (await readFile(join(ROOT, "Cargo.toml"), "utf8")).split(/^(?=\[)/m);
  const section = (name) => sections.find((text) => text.startsWith(`[${name}]`));
  const profile = sections.filter((text) => text.startsWith("[profile.release")).join("");
  const dependencies = section("workspace.dependencies").replaceAll('path = "', 'path = "../../../');
  return `[workspace]

${dependencies}
${profile}
[package]
name = "bench-${name}"
version = "0.0.0"
edition = "2024"

[lib]
path = "lib.rs"
crate-type = ["cdylib"]

[dependencies]
serde.workspace = true
serde_json.workspace = true
toolbooth.workspace = true
toolbooth-worker = { workspace = true, features = ${JSON.stringify(bindings ? ["bindings"] : [])} }

[build-dependencies]
toolbooth-build.workspace = true
`;
}

const library = (toolkits, capabilities) => `${toolkits.map((name) => `mod ${name.toLowerCase()};\n`).join("")}
use toolbooth::tool::Variable;

const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG, [${capabilities.join(", ")}]);
`;

// Every tool has its own function, and so its own instance of `run`, like real tools.
const handlers = (numbers) => `use serde_json::{Map, Value};
use toolbooth::{Context, ToolError};
${numbers
  .map(
    (number) => `
pub(crate) async fn tool${number}(input: Map<String, Value>, _: &Context<'_>) -> Result<usize, ToolError> {
    Ok(input.len() + ${number})
}
`,
  )
  .join("")}`;

/** The definition of Calculator.Add. */
export const calculator = async () =>
  JSON.parse(await readFile(join(ROOT, "tests/samples/calculator/Add@1.0.0.json"), "utf8"));

/** The definition of a generated tool. */
export function definition(number) {
  const { schema, example } = SCHEMAS[number % SCHEMAS.length];
  return {
    id: `${toolkit(number)}.Tool${number}@1.0.0`,
    name: `${toolkit(number)}_Tool${number}`,
    description: `Tool number ${number} of the benchmark: takes a valid input and counts its parameters.`,
    version: "1.0.0",
    input_schema: schema,
    output_schema: { type: "integer", description: "The count, and the tool's number." },
    examples: [{ input: example, value: Object.keys(example).length + number }],
  };
}
