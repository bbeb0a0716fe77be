// Deploys the Worker with wrangler, which runs the build that wrangler.toml names. A dry run also says what the deployed
// Worker would find wrong with its configuration.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { applyMigrations } from "./local.js";
import { fromNpm } from "./programs.js";
import { run } from "./process.js";

/** Deploys; `args` are wrangler's. */
export async function deploy(args) {
  const env = { ...process.env, WRANGLER_SEND_METRICS: process.env.WRANGLER_SEND_METRICS ?? "false" };
  await run(process.execPath, [fromNpm("wrangler", "wrangler"), "deploy", ...args], { env });
  const options = { "dry-run": { type: "boolean" }, config: { type: "string", short: "c" }, env: { type: "string", short: "e" } };
  const { values } = parseArgs({ args, options, strict: false });
  if (!values["dry-run"]) return;
  const { findings } = await import("./findings.js");
  console.log(report(await findings(values), values.env));
}

/** What an operator should know before the deployment. */
function report({ status, found, created, databases }, env) {
  const ofEnv = env ? ` --env ${env}` : "";
  const secrets = `npx wrangler secret list${ofEnv}`;
  return [
    found.length > 0
      ? `\nWith the variables of wrangler.toml and without secrets, the Worker reports:\n\n${found.map((line) => `  ${inProject(line)}`).join("\n")}\n`
      : "\nThe Worker finds nothing wrong with its configuration.",
    ...(status === 503 ? ["Until that is solved, it serves no calls, and /health responds with 503."] : []),
    ...(found.length > 0 ? [`Secrets that are stored in Cloudflare cannot be seen from here: ${secrets} names them.`] : []),
    ...(created.length > 0 ? [`The first deployment creates ${created.join(" and ")}.`] : []),
    ...databases.map((database) => `${created.includes(database.binding) ? "Then create the tables of" : "Before you deploy, apply new migrations of"} ${database.binding}: ${applyMigrations(database, "remote", env)}`),
  ].join("\n");
}

/** The Worker names the command of a clone. A project has none of its Makefile. */
function inProject(line) {
  return existsSync("Makefile") ? line : line.replaceAll("`make key`", "`npx toolbooth key`");
}
