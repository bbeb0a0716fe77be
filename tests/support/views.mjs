// Builds the view of a tool in a project of its own.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { buildViews } from "../../packages/toolbooth/src/views.js";

/**
 * Builds a crate with these files, and a tool with the view `file`. Files below `node_modules` are those of the project, the others are
 * beside the view; `packages` names those of this repository that the project has. Returns the page; `inputs` gets the files that it consists of.
 */
export async function built(t, files, { file = "chart.html", csp, packages = [], deployed, inputs = [] } = {}) {
  const crate = mkdtempSync(join(tmpdir(), "views-"));
  t.after(() => rmSync(crate, { recursive: true, force: true }));
  const definition = JSON.stringify({ id: "Plot.Draw@1.0.0", ui: { file, csp } });
  const write = (name, add) => {
    const path = join(crate, name.startsWith("node_modules/") ? "" : "plot", name);
    mkdirSync(dirname(path), { recursive: true });
    add(path);
  };
  for (const name of packages) write(`node_modules/${name}`, (path) => symlinkSync(realpathSync(new URL(`../../node_modules/${name}`, import.meta.url)), path));
  for (const [name, text] of Object.entries({ "Draw@1.0.0.json": definition, ...files })) write(name, (path) => writeFileSync(path, text));
  const paths = await buildViews(crate, join(crate, "assets"), { deployed }).catch((error) => {
    inputs.push(...error.inputs.map((path) => relative(crate, path)));
    throw error;
  });
  inputs.push(...paths.map((path) => relative(crate, path)));
  return readFileSync(join(crate, "assets/views/plot", file), "utf8");
}
