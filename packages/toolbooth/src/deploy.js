// Deploys the Worker with wrangler, which runs the build that wrangler.toml names.
import { fromNpm } from "./programs.js";
import { run } from "./process.js";

/** Deploys; `args` are wrangler's. */
export async function deploy(args) {
  const env = { ...process.env, WRANGLER_SEND_METRICS: process.env.WRANGLER_SEND_METRICS ?? "false" };
  await run(process.execPath, [fromNpm("wrangler", "wrangler"), "deploy", ...args], { env });
}
