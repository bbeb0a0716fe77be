// Puts the site's pages, scripts and styles where wrangler.toml expects them.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IS_PACKED } from "./packed.js";

/** The site as it is packed with this command. */
const PACKED = fileURLToPath(new URL("../site", import.meta.url));
/** Its sources, in the repository of Toolbooth. */
const SOURCES = new URL("../../../site/build/index.js", import.meta.url);

/** Writes the site into the folder `out`. Other files there stay. */
export async function site(out) {
  if (IS_PACKED) {
    // The names in this folder change with its contents.
    rmSync(join(out, "site"), { recursive: true, force: true });
    cpSync(PACKED, out, { recursive: true });
  } else {
    const { buildSite } = await import(SOURCES.href);
    await buildSite(out);
  }
}
