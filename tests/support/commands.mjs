// Runs the project's commands as a person would.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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
  // A part may end within a character.
  child.stdout.setEncoding("utf8").on("data", (part) => (texts.out += part));
  child.stderr.setEncoding("utf8").on("data", (part) => (texts.err += part));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...texts })));
}

/** Systems hand out higher ports to those who ask for any, so a free one of these stays free until a test uses it. */
const [FIRST, LAST] = [20_000, 32_000];

/** A currently free port. */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (!(await isOpen(port))) return port;
  }
}

/** Whether something listens on a port of this machine. */
export function isOpen(port, host = "127.0.0.1") {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Waits until something listens on a port of this machine, five minutes at most. */
export async function listens(port) {
  const end = performance.now() + 300_000;
  while (!(await isOpen(port))) {
    if (performance.now() > end) throw new Error(`nothing listens on port ${port}`);
    await sleep(50);
  }
}

/**
 * Starts a command that serves on a port, in its own process group, and waits until it prints
 * `ready`. Returns the port, the match, what it has printed up to now, `until`, which waits for further output, and `ended`, which
 * resolves with the exit code. Retries with another port if a different process was faster.
 */
export async function serve(command, ready, where = {}) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const { until, ...more } = spawned(command(port), where);
    try {
      return { port, found: await until(ready), until, ...more };
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
    stream.setEncoding("utf8").on("data", (part) => {
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
    ended,
    /** Like Ctrl-C: interrupts every process of the group. Returns the exit code. */
    interrupt() {
      process.kill(-child.pid, "SIGINT");
      return ended;
    },
  };
}
