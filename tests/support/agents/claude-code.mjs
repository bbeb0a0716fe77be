// Anthropic's Claude Code. The use of the program is subject to Anthropic's terms.
import { installed, program } from "./program.mjs";

/** What would reach for other hosts than the gateway: updates, statistics, and requests that are not needed for the task. */
export const QUIET = { DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };

/** The program, as the command `claude` of a home. `file` is one of its packages. */
export const command = (file = "@anthropic-ai/claude-code/cli-wrapper.cjs") => ({ "bin/claude": `#!/bin/sh\nexec "${process.execPath}" "${installed(file)}" "$@"\n` });

/**
 * Runs `lines`, which end with the call of `claude`, with `prompt` in the folder `cwd`. `tools` may be used without a question, `mcp` are servers
 * by name, `env` further variables. Returns `{ code, output, errors, hosts }`; `hosts` are those that it asked for, apart from loopback.
 */
export function claudeCode({ lines, env, prompt, tools, mcp, cwd }) {
  const options = [`--print '${prompt}'`, "--strict-mcp-config", `--mcp-config '${JSON.stringify({ mcpServers: mcp })}'`, `--allowedTools '${tools}'`];
  return program("sh", ["-c", `${lines.trim()} ${options.join(" ")}`], { cwd, env: { ...QUIET, ...env }, files: command() });
}
