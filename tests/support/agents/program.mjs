// Runs an agent, the unmodified program of its npm package, with a home of its own and without any network but loopback.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listen } from "../server.mjs";

/** A file in the packages of tests/agents. */
export const installed = (path) => fileURLToPath(new URL(`../../agents/node_modules/${path}`, import.meta.url));
/** The longest time that an agent may take, in milliseconds. */
const LIMIT = 270_000;

/**
 * Runs `command` with `args` in the folder `cwd`, by default its home. `files` are those of its home, `env` its variables. Returns
 * `{ code, output, errors, hosts }`; `hosts` are those that it asked for, apart from loopback.
 */
export async function program(command, args, { cwd, env, files = {} }) {
  const home = await mkdtemp(join(tmpdir(), "agent-"));
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
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text, { mode: 0o755 });
    }
    const proxies = { HTTP_PROXY: proxy.base, HTTPS_PROXY: proxy.base, ALL_PROXY: proxy.base, NO_PROXY: "127.0.0.1,localhost" };
    // A group of its own: the program starts others.
    const child = spawn(command, args, { cwd: cwd ?? home, detached: true, stdio: ["ignore", "pipe", "pipe"], env: { PATH: `${home}/bin:${process.env.PATH}`, HOME: home, ...proxies, ...env } });
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
