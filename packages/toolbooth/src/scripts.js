// The functions of tools in TypeScript, and the module that adds them to the Worker.
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { catalogue, files } from "./catalogue.js";
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

/** A module that is the Worker's `entry` with these functions, as esbuild takes it. */
export function withScripts(functions, entry) {
  const text = JSON.stringify;
  const lines = [
    `import { register } from ${text(join(dirname(entry), "tools.js"))};`,
    ...functions.map(({ file }, at) => `import tool${at} from ${text(file)};`),
    `register({ ${functions.map(({ name }, at) => `${text(name)}: tool${at}`).join(", ")} });`,
    `export * from ${text(entry)};`,
    `export { default } from ${text(entry)};`,
  ];
  return { contents: lines.join("\n"), resolveDir: dirname(entry), sourcefile: "entry-with-tools.js" };
}
