// OpenAI's Codex, the unmodified program of its npm package, with a home of its own and without any network but loopback.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listen } from "../server.mjs";

const PROGRAM = fileURLToPath(new URL("../../agents/node_modules/@openai/codex/bin/codex.js", import.meta.url));
// What would reach for other hosts than the provider: statistics, updates, plugins and connectors.
const QUIET = ["analytics.enabled=false", "check_for_update_on_startup=false", "features.plugins=false", "features.apps=false"];
/** The longest time for a task, in milliseconds. */
const LIMIT = 270_000;

/**
 * Runs `codex exec` with `prompt` in the folder `cwd`. `config` is its config.toml, `env` further variables. Returns
 * `{ code, output, errors, hosts }`; `hosts` are those that it asked for, apart from loopback.
 */
export async function codex({ config, env, prompt, cwd }) {
  const home = await mkdtemp(join(tmpdir(), "codex-"));
  const hosts = [];
  const proxy = await listen((request, response) => {
    hosts.push(request.url);
    response.writeHead(403).end();
  });
  proxy.server.on("connect", ({ url }, socket) => {
    hosts.push(url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  try {
    await mkdir(join(home, ".codex"));
    await writeFile(join(home, ".codex/config.toml"), config);
    const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ...QUIET.flatMap((one) => ["--config", one]), prompt];
    const proxies = { HTTP_PROXY: proxy.base, HTTPS_PROXY: proxy.base, ALL_PROXY: proxy.base, NO_PROXY: "127.0.0.1,localhost" };
    // A group of its own: the program starts others.
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, HOME: home, ...proxies, ...env } });
    const end = () => process.kill(-child.pid, "SIGKILL");
    process.once("exit", end);
    const timer = setTimeout(end, LIMIT);
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (part) => (output += part));
    child.stderr.setEncoding("utf8").on("data", (part) => (errors += part));
    const [code] = await once(child, "close");
    clearTimeout(timer);
    process.off("exit", end);
    return { code, output, errors, hosts };
  } finally {
    await proxy.close();
    // What it has started may still write there.
    await rm(home, { recursive: true, force: true, maxRetries: 10 });
  }
}
