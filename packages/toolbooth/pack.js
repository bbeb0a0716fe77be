// Builds the site into the package, and copies the toolkits; with --clean, deletes both.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [out, toolkits] = [here("site"), here("toolkits")];
if (process.argv.includes("--clean")) {
  for (const folder of [out, toolkits]) rmSync(folder, { recursive: true, force: true });
} else {
  const { buildSite } = await import("../../site/build/index.js");
  await buildSite(out);
  cpSync(here("../../toolkits"), toolkits, { recursive: true });
}
