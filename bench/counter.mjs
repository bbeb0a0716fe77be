// Measures the cost of a process over a period: CPU instructions if the machine counts them, otherwise CPU
// time from /proc.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { text } from "node:stream/consumers";

const EVENT = "instructions";

/** The best counter of this machine: `{ title, unit, start }`; `start(pid)` returns `stop()`. */
export async function pick() {
  const probe = spawnSync("perf", ["stat", "-x", ",", "-e", EVENT, "true"], { encoding: "utf8" });
  if (Number.parseFloat(probe.stderr) > 0) return instructions;
  return (await nanoseconds(process.pid)) > 0 ? schedstat : stat;
}

// perf attaches first and counts on command, so that its own startup does not distort the measurement.
const instructions = {
  title: "instructions counted by `perf stat`",
  unit: "k instructions",
  async start(pid) {
    const options = ["-x", ",", "-e", EVENT, "-p", pid, "-D", "-1", "--control", "fd:3,4"];
    const perf = spawn("perf", ["stat", ...options], {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    });
    const printed = text(perf.stderr);
    const [, , , commands, acknowledged] = perf.stdio;
    commands.write("enable\n");
    await once(acknowledged, "data");
    return async () => {
      commands.write("disable\n");
      await once(acknowledged, "data");
      perf.kill("SIGINT");
      // perf also prints its commands.
      return Number(/^(\d[\d.]*),/m.exec(await printed)?.[1]) / 1000;
    };
  },
};

const difference = (read, scale) => async (pid) => {
  const before = await read(pid);
  return async () => ((await read(pid)) - before) * scale;
};

// CPU time in nanoseconds per thread. The kernel updates it late for running threads, so read it while the
// process waits.
const schedstat = {
  title: "CPU time (user and system) of all threads from `/proc/<pid>/task/*/schedstat`",
  unit: "µs",
  start: difference(nanoseconds, 1e-3),
};

async function nanoseconds(pid) {
  const threads = await readdir(`/proc/${pid}/task`);
  const files = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  const read = await Promise.all(files).catch(() => []);
  return read.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0);
}

// CPU time in hundredths of a second, which every Linux has.
const stat = {
  title: "CPU time (utime + stime) from `/proc/<pid>/stat`",
  unit: "µs",
  start: difference(ticks, 1e4),
};

async function ticks(pid) {
  const [user, kernel] = await times(pid);
  return user + kernel;
}

/** The user and kernel time of a process and of its terminated children, in hundredths of a second. */
async function times(pid) {
  const line = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).map(Number);
}

/** The memory of a process that is in RAM (RSS), in bytes. */
export async function resident(pid) {
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) * 1024;
}

/** Starts to measure interference. The result returns the shares of CPU time that other programs and the
 *  hypervisor have used since. The benchmark's own child processes count once they have ended. */
export async function bystanders() {
  const read = async () => {
    const line = (await readFile("/proc/stat", "utf8")).split("\n", 1)[0];
    const [user, nice, system, idle, iowait, irq, softirq, stolen] = line.match(/\d+/g).map(Number);
    const busy = user + nice + system + irq + softirq;
    const own = (await times("self")).reduce((sum, time) => sum + time, 0);
    return { all: busy + idle + iowait + stolen, others: busy - own, stolen };
  };
  const before = await read();
  return async () => {
    const after = await read();
    const share = (name) => (after[name] - before[name]) / (after.all - before.all);
    return { others: Math.max(0, share("others")), stolen: share("stolen") };
  };
}
