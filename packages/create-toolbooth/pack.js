// Copies the template into the package; with --clean, deletes the copy. npm leaves .gitignore files out, so theirs has
// another name.
import { cpSync, renameSync, rmSync } from "node:fs";

const copy = new URL("template/", import.meta.url);
rmSync(copy, { recursive: true, force: true });
if (!process.argv.includes("--clean")) {
  cpSync(new URL("../../template/", import.meta.url), copy, { recursive: true });
  renameSync(new URL(".gitignore", copy), new URL("gitignore", copy));
}
