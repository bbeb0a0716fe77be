// Deploys the Worker in this folder with wrangler. The first deployment stores the secrets that the Worker needs, and prints an API key.
// Arguments, such as --dry-run, go to wrangler.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newKey } from "./credentials.js";

const args = process.argv.slice(2);
const isDryRun = args.includes("--dry-run");
/** The arguments that choose another Worker than `wrangler.toml`: its secrets are those to look at. */
const CHOICE = /^(?:--name|--env|-e|--config|-c)(?:=|$)/;
/** The Worker to which a build at Cloudflare deploys, whatever name the arguments or `wrangler.toml` have. */
const { WRANGLER_CI_OVERRIDE_NAME: built } = process.env;
const choice = built ? ["--name", built] : args.flatMap((arg, at) => (!CHOICE.test(arg) ? [] : arg.includes("=") ? [arg] : args.slice(at, at + 2)));
/** What Cloudflare answers about a Worker that does not exist. */
const NO_WORKER = /\b10007\b/;

const stored = isDryRun ? undefined : secrets();
const { key, entry } = newKey("operator", ["*"]);
const created = {
  ...(stored?.includes("API_KEYS") ? {} : { API_KEYS: JSON.stringify([entry]) }),
  // Encrypts challenges, tasks and questions: a second one would make them unreadable.
  ...(stored?.includes("STATE_KEY") ? {} : { STATE_KEY: randomBytes(32).toString("base64") }),
};
const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
try {
  const file = join(folder, "secrets.json");
  writeFileSync(file, JSON.stringify(created), { mode: 0o600 });
  const isNew = stored && Object.keys(created).length > 0;
  const { status } = wrangler(["deploy", ...args, ...(isNew ? ["--secrets-file", file] : [])], "inherit");
  process.exitCode = status ?? 1;
  if (status === 0 && isNew && created.API_KEYS) {
    console.log(`
The key for the server's operator. It is shown only once:

  ${key}

It may call every tool. If others can read this log, replace the secret API_KEYS: README.md says how.`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** The names of the secrets that the deployed Worker has. Ends this program if they are unknown: a new key would replace theirs. */
function secrets() {
  const { status, stdout, stderr } = wrangler(["secret", "list", "--format", "json", ...choice], "pipe");
  if (status === 0) return JSON.parse(stdout).map(({ name }) => name);
  if (NO_WORKER.test(`${stdout}${stderr}`)) return [];
  console.error(`The secrets of the Worker cannot be listed, so nothing was deployed:\n${stdout}${stderr}`);
  process.exit(1);
}

function wrangler(args, output) {
  const env = { ...process.env, WRANGLER_SEND_METRICS: process.env.WRANGLER_SEND_METRICS ?? "false" };
  return spawnSync("npx", ["--no-install", "wrangler", ...args], { encoding: "utf8", env, stdio: ["ignore", output, output] });
}
