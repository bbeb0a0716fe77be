// Whether this is the command as npm has packed it, with the site and the toolkits, or that of the repository.
import { existsSync } from "node:fs";

/**
 * pack.js is only in the repository. The site and the toolkits cannot tell: while npm packs the command, the repository has copies of
 * them beside it.
 */
export const IS_PACKED = !existsSync(new URL("../pack.js", import.meta.url));
