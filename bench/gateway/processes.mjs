// Starts a program that serves HTTP, and measures what it and the programs that it started use.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

export const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The longest wait for a program to start, in milliseconds. */
const START = 120_000;
/** The longest wait for one answer to the question whether it has started: it may take a request before it can answer. */
const ANSWER = 5_000;

/** A port of the loopback interface that nobody uses. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a command that serves HTTP on `port`, and waits until `path` answers. `close` ends it and what it started. */
export async function run(command, args, port, path, env) {
  // A group of its own, so that its workers end with it.
  const child = spawn(command, args, { cwd: HERE, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output = (output + part).slice(-20_000)));
  const exited = once(child, "exit");
  const end = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  process.once("exit", end);
  const close = async () => {
    process.off("exit", end);
    end();
    await exited;
  };
  const base = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      await close();
      throw new Error(`${command} did not start: ${output}`);
    }
    const reply = await fetch(`${base}${path}`, { signal: AbortSignal.timeout(ANSWER) }).catch(() => undefined);
    if (reply?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { base, pid: child.pid, close, output: () => output };
}

/** Reads a file of /proc; undefined if the process or the thread has ended. */
const read = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};
const threads = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

/** A process and all that it has started. */
function tree(pid) {
  const children = threads(pid).flatMap((thread) => (read(`/proc/${pid}/task/${thread}/children`) ?? "").split(" ").filter(Boolean));
  return [pid, ...children.flatMap((child) => tree(Number(child)))];
}

/** The milliseconds of CPU that a process and those that it started have used. */
export function cpu(pid) {
  const times = tree(pid).flatMap((one) => threads(one).map((thread) => Number(read(`/proc/${one}/task/${thread}/schedstat`)?.split(" ")[0] ?? 0)));
  return times.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** The megabytes of memory that a process and those that it started have in RAM (RSS). */
export function memory(pid) {
  const sizes = tree(pid).map((one) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${one}/status`) ?? "")?.[1] ?? 0));
  return sizes.reduce((sum, one) => sum + one, 0) / 1000;
}
