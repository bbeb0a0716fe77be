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
function freePort() {
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
 * `ready`. Returns the port and the match. Retries with another port if a different process was
 * faster.
 */
export async function serve(command, ready, where = {}) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const { started, interrupt } = spawned(command(port), ready, where);
    try {
      return { port, found: await started, interrupt };
    } catch (error) {
      if (tries === 3 || !/already in use/i.test(error.message)) throw error;
    }
  }
}

function spawned(command, ready, { cwd = root, env = {} }) {
  const child = spawn("sh", ["-c", command], {
    cwd,
    env: environment(env),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const ended = new Promise((resolve) => child.on("close", resolve));
  const started = new Promise((resolve, reject) => {
    const look = (part) => {
      text += part;
      const found = ready.exec(text);
      if (found) resolve(found);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    ended.then((code) => reject(new Error(`${command} ended with ${code}:\n${text}`)));
  });
  return {
    started,
    /** Like Ctrl-C: interrupts every process of the group. Returns the exit code. */
    interrupt() {
      process.kill(-child.pid, "SIGINT");
      return ended;
    },
  };
}
