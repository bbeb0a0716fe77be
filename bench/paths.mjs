// Paths that the benchmark uses.
import { dirname, join } from "node:path";

/** The root of the repository. */
export const ROOT = dirname(import.meta.dirname);
/** Temporary files of the benchmark. */
export const SCRATCH = join(ROOT, "target/bench");
