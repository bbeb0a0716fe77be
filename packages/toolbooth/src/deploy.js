// Deploys the Worker with wrangler, which runs the build that wrangler.toml names. A dry run also says what the deployed
// Worker would find wrong with its configuration, and fails if it would reject every call.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { applyMigrations } from "./local.js";
import { fromNpm } from "./programs.js";
import { Failure, run } from "./process.js";
import { DEPLOYED } from "./stacks.js";
import { oversized } from "./variables.js";

/** Deploys; `args` are wrangler's. */
export async function deploy(args) {
  const options = { "dry-run": { type: "boolean" }, config: { type: "string", short: "c" }, env: { type: "string", short: "e" }, outdir: { type: "string" } };
  const { values } = parseArgs({ args, options, strict: false });
  const isDryRun = values["dry-run"];
  const env = values.env ?? process.env.CLOUDFLARE_ENV ?? "";
  // A dry run changes no environment, so wrangler need not warn that none is named.
  const named = isDryRun && values.env === undefined ? [`--env=${env}`] : [];
  // For the stacks in the log of what is deployed.
  const kept = isDryRun || values.outdir !== undefined ? [] : [`--outdir=${DEPLOYED}`];
  await run(process.execPath, [fromNpm("wrangler", "wrangler"), "deploy", ...args, ...named, ...kept], {
    env: { ...process.env, WRANGLER_SEND_METRICS: process.env.WRANGLER_SEND_METRICS ?? "false" },
  });
  if (!isDryRun) return;
  const { findings } = await import("./findings.js");
  const found = await findings({ config: values.config, env: env || undefined });
  console.log(report(found, env));
  const tooLong = oversized(found.vars);
  if (tooLong.length > 0) throw new Failure(tooLong.join("\n"));
  if (isRejecting(found)) throw new Failure("The deployed Worker would reject every call.");
}

/** Whether the Worker would reject every call. A secret may be stored in Cloudflare, which cannot be seen from here. */
export function isRejecting({ calls, vars }) {
  return calls.some((text) => secretsOf(text, vars).length === 0);
}

/** What an operator should know before the deployment. */
function report({ calls, tools, notes, created, databases, vars }, env) {
  const ofEnv = env ? ` --env ${env}` : "";
  const named = new Set();
  // Each finding, and how to store the secret that it lacks.
  const lines = (text) => {
    const secrets = secretsOf(text, vars).filter((secret) => !named.has(secret));
    for (const secret of secrets) named.add(secret);
    return [`  ${inProject(text)}`, ...secrets.map((secret) => `    npx wrangler secret put ${secret}${ofEnv}`)];
  };
  const section = (title, found) => (found.length > 0 ? [`${title}\n${found.flatMap(lines).join("\n")}\n`] : []);
  const sections = [
    ...section("Every call is rejected until you fix this, and /health responds with 503:", calls),
    ...section("These tools are disabled until you fix this:", tools),
    ...section("Worth knowing:", notes),
  ];
  return [
    ...(sections.length > 0
      ? ["\nWhat the Worker reports with the variables of wrangler.toml and without secrets:\n", ...sections]
      : ["\nThe Worker finds nothing wrong with its configuration."]),
    ...(sections.length > 0 ? [`Secrets that are stored in Cloudflare cannot be seen from here: npx wrangler secret list${ofEnv} names them.`] : []),
    ...(created.length > 0 ? [`The first deployment creates ${created.join(" and ")}.`] : []),
    ...databases.map((database) => `${created.includes(database.binding) ? "Then create the tables of" : "Before you deploy, apply new migrations of"} ${database.binding}: ${applyMigrations(database, "remote", env)}`),
  ].join("\n");
}

/** The secrets that a finding says are missing; one that wrangler.toml sets (`vars`) is wrong instead. */
function secretsOf(finding, vars) {
  const [, own] = /^(API_KEYS|JWT_SECRET|STATE_KEY|GRANT_KEYS) (?:must|or|is not set)\b|^(\w+) is a secret that is not set/.exec(finding)?.filter(Boolean) ?? [];
  const named = own ? [own] : [...finding.matchAll(/needs the secret (\w+)/g)].map(([, secret]) => secret);
  return named.filter((name) => !vars[name]);
}

/** The Worker names the command of a clone. A project has none of its Makefile. */
function inProject(line) {
  return existsSync("Makefile") ? line : line.replaceAll("`make key`", "`npx toolbooth key`");
}
