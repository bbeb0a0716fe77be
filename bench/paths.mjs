// Where things are.
import { dirname, join } from "node:path";

/** The repository. */
export const ROOT = dirname(import.meta.dirname);
/** What the benchmark makes and can lose. */
export const SCRATCH = join(ROOT, "target/bench");
