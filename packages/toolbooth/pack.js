// Builds the site into the package; with --clean, deletes it.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const out = fileURLToPath(new URL("site", import.meta.url));
if (process.argv.includes("--clean")) {
  rmSync(out, { recursive: true, force: true });
} else {
  const { buildSite } = await import("../../site/build/index.js");
  await buildSite(out);
}
