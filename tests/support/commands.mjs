// Runs the project's commands as a person would.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

// Without the variables of an outer make, whose job server the inner one must not use. The Node that
// runs the test comes first in PATH, so that inner commands use the same one.
export function environment(more = {}) {
  const { MAKEFLAGS, MAKELEVEL, MFLAGS, NODE_TEST_CONTEXT, ...rest } = process.env;
  return { ...rest, PATH: `${dirname(process.execPath)}:${rest.PATH}`, ...more };
}

/** Runs a shell command to completion: `{ code, out, err }`. */
export function run(command, { cwd = root, env = {} } = {}) {
  const child = spawn("sh", ["-c", command], { cwd, env: environment(env), stdio: ["ignore", "pipe", "pipe"] });
  const texts = { out: "", err: "" };
  child.stdout.on("data", (part) => (texts.out += part));
  child.stderr.on("data", (part) => (texts.err += part));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...texts })));
}

/** A currently free port. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts a command that serves on a port, in its own process group, and waits until it prints
 * `ready`. Returns the port, the match, what it has printed up to now, and `until`, which waits for further output. Retries with
 * another port if a different process was faster.
 */
export async function serve(command, ready, where = {}) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const { until, printed, interrupt } = spawned(command(port), where);
    try {
      return { port, found: await until(ready), until, printed, interrupt };
    } catch (error) {
      if (tries === 3 || !/already in use/i.test(error.message)) throw error;
    }
  }
}

function spawned(command, { cwd = root, env = {} }) {
  const child = spawn("sh", ["-c", command], {
    cwd,
    env: environment(env),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const waiting = new Set();
  const ended = new Promise((resolve) => child.on("close", resolve));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part) => {
      text += part;
      for (const look of waiting) look();
    });
  }
  return {
    /** Waits until the output matches, and returns the match. */
    until(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        ended.then((code) => reject(new Error(`${command} ended with ${code}:\n${text}`)));
      });
    },
    printed: () => text,
    /** Like Ctrl-C: interrupts every process of the group. Returns the exit code. */
    interrupt() {
      process.kill(-child.pid, "SIGINT");
      return ended;
    },
  };
}
