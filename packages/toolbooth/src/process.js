// Runs other programs.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

/** An error that the user can correct: its message is printed without a stack. */
export class Failure extends Error {
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

/** Runs a program with this terminal's input and output. Fails, without another message, if it does. */
export async function run(program, args, options = {}) {
  const { code } = await spawned(program, args, { stdio: "inherit", ...options });
  if (code !== 0) throw new Failure("", code);
}

/** Runs a program and returns what it prints: `{ code, out, err }`. With a `priority`, as in `node:os`, others may come first. */
export function output(program, args, options = {}) {
  return spawned(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
}

/** The processes that run. They end with this one. */
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill();
});

/** What a signal that ends this process does. */
let end = (signal) => process.exit(128 + constants.signals[signal]);
let isListening = false;

/** From now on, a signal ends this process so that the programs that run end, too, and what must be tidied up is. */
function listen() {
  if (isListening) return;
  isListening = true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => end(signal));
}

/** Lets `replacement` end this process at a signal. */
export function endWith(replacement) {
  end = replacement;
  listen();
}

function spawned(program, args, { priority, ...options }) {
  listen();
  const child = spawn(program, args, options);
  running.add(child);
  if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, priority);
  const texts = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (part) => (texts.out += part));
  child.stderr?.setEncoding("utf8").on("data", (part) => (texts.err += part));
  return new Promise((resolve, reject) => {
    child.on("error", ({ code, message }) => {
      reject(new Failure(code === "ENOENT" ? `${program} is not installed: npx toolbooth doctor says how to install it` : message));
    });
    child.on("close", (code) => {
      running.delete(child);
      resolve({ code: code ?? 1, ...texts });
    });
  });
}
