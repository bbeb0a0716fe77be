// The functions of tools in TypeScript and in other Workers, and the module that adds them to the Worker.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { catalogue, definitions, files } from "./catalogue.js";
import { snakeCase } from "./names.js";

/** The functions of the tools of a crate: `{ name, file }`. */
export function scripts(crate) {
  const found = files(/@[^/\\]+\.json$/, catalogue(crate)).flatMap((definition) => scriptOf(definition) ?? []);
  return [...new Set(found)].map((file) => ({ name: `${basename(dirname(file))}/${basename(file, ".ts")}`, file: resolve(file) }));
}

/** The file with the function of the tool in the file `definition`, if that is in TypeScript: the first of these names, as in toolbooth-build. */
export function scriptOf(definition) {
  const [tool, version] = basename(definition, ".json").split("@");
  const numbers = version.split(".");
  const names = [3, 2, 1, 0].map((count) => [snakeCase(tool), ...numbers.slice(0, count)].join("_"));
  return names.map((name) => join(dirname(definition), `${name}.ts`)).find((path) => existsSync(path));
}

/**
 * The files with functions that no tool of a crate runs, and how their definitions could be called: `{ file, definition }`. `used` are the
 * files of its bundle.
 */
export function unused(crate, used) {
  const bundled = new Set(used.map((file) => resolve(file)));
  const isFunction = (file) => /^export default tool\b/m.test(readFileSync(file, "utf8"));
  const found = files(/(?<!\.(?:d|test|types))\.ts$/, catalogue(crate)).filter((file) => !bundled.has(resolve(file)) && isFunction(file));
  const tool = (file) => basename(file, ".ts").replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
  return found.map((file) => ({ file: relative(".", file), definition: `${tool(file)}@0.1.0.json` }));
}

/** The bindings of other Workers that run tools of a crate. */
export function services(crate) {
  return [...new Set(definitions(crate).flatMap(({ service }) => service ?? []))];
}

/** The name of the module that imports the functions. */
const GENERATED = "entry-with-tools.js";

/** A module that is the Worker's `entry` with these functions, and those of other Workers, as esbuild takes it. */
export function withScripts(functions, bindings, entry) {
  const text = JSON.stringify;
  const lines = [
    `import { register, service } from ${text(join(dirname(entry), "tools.js"))};`,
    // Each on its own, after the server: one that fails stops neither it nor the others.
    `register({ ${[...functions.map(({ name, file }) => `${text(name)}: import(${text(file)})`), ...bindings.map((name) => `${text(`service:${name}`)}: service(${text(name)})`)].join(", ")} });`,
    `export * from ${text(entry)};`,
    `export { default } from ${text(entry)};`,
  ];
  return { contents: lines.join("\n"), resolveDir: dirname(entry), sourcefile: GENERATED };
}
