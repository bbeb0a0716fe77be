// OpenAI's Codex.
import { installed, program } from "./program.mjs";

// What would reach for other hosts than the provider: statistics, updates, plugins and connectors.
const QUIET = ["analytics.enabled=false", "check_for_update_on_startup=false", "features.plugins=false", "features.apps=false"];

/**
 * Runs `codex exec` with `prompt` in the folder `cwd`. `config` is its config.toml, `env` further variables. Returns
 * `{ code, output, errors, hosts }`; `hosts` are those that it asked for, apart from loopback.
 */
export function codex({ config, env, prompt, cwd }) {
  const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ...QUIET.flatMap((one) => ["--config", one]), prompt];
  return program(process.execPath, [installed("@openai/codex/bin/codex.js"), ...args], { cwd, env, files: { ".codex/config.toml": config } });
}
