// Copies the template into the package. npm leaves .gitignore files out, so the copy has another name.
import { cpSync, renameSync, rmSync } from "node:fs";

const copy = new URL("template/", import.meta.url);
rmSync(copy, { recursive: true, force: true });
cpSync(new URL("../../template/", import.meta.url), copy, { recursive: true });
renameSync(new URL(".gitignore", copy), new URL("gitignore", copy));
