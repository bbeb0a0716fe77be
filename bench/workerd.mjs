// Starts one workerd in which each Worker is a service with a socket of its own, so that all
// share the process, its threads and whatever else the machine does meanwhile.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import workerd from "workerd";

import { ROOT, SCRATCH } from "./paths.mjs";

export const { version } = workerd;

/** Writes a configuration with all `workers`, for `serve`. A worker's `variables` are its text
 *  bindings. */
export async function configure(workers) {
  const names = workers.map(({ name }) => name);
  const date = /^compatibility_date = (".+")$/m;
  const [, compatibilityDate] = date.exec(await readFile(join(ROOT, "wrangler.toml"), "utf8"));
  for (const { name, modules } of workers) {
    await mkdir(join(SCRATCH, "modules", name), { recursive: true });
    for (const module of modules) {
      await writeFile(join(SCRATCH, "modules", name, module.name), module.bytes);
    }
  }
  const services = workers.map(({ name, modules, variables = { AUTH: "none", ANONYMOUS_SCOPES: "*" } }) => {
    const embedded = modules.map(
      (module) =>
        `(name = "${module.name}", ${module.type} = embed "modules/${name}/${module.name}")`,
    );
    const bindings = Object.entries(variables).map(
      ([variable, value]) => `(name = "${variable}", text = ${JSON.stringify(value)})`,
    );
    const worker = `(compatibilityDate = ${compatibilityDate}, modules = [${embedded.join(", ")}], bindings = [${bindings.join(", ")}])`;
    return `(name = "${name}", worker = ${worker})`;
  });
  // Where Workers fetch from: the issuer of the tokens is on this machine.
  services.push(`(name = "internet", network = (allow = ["private"]))`);
  // Port 0: the system picks a free one, and workerd reports it.
  const sockets = names.map(
    (name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`,
  );
  const list = (items) => `[\n    ${items.join(",\n    ")}\n  ]`;
  const path = join(SCRATCH, `${names.length === 1 ? names[0] : "all"}.capnp`);
  await writeFile(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = ${list(services)},
  sockets = ${list(sockets)}
);
`,
  );
  return { path, names };
}

/** Runs `use` with the process's id and the Workers' ports by name, then ends the process. Where it
 *  is `inspected`, `inspector` is the port of the runtime's inspector. */
export async function serve({ path, names }, use, { inspected = false } = {}) {
  const flags = ["--control-fd=3", ...(inspected ? ["--inspector-addr=127.0.0.1:0"] : [])];
  const child = spawn(workerd.default, ["serve", ...flags, path, "config"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const exit = once(child, "exit");
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  try {
    return await use({ pid: child.pid, ...(await listening(child, names)) });
  } finally {
    process.off("exit", end);
    end();
    await exit;
  }
}

async function listening(child, names) {
  const ports = {};
  let inspector;
  for await (const line of createInterface({ input: child.stdio[3] })) {
    const { event, socket, port } = JSON.parse(line);
    if (event === "listen-inspector") inspector = port;
    if (event === "listen") ports[socket] = port;
    if (names.every((name) => name in ports)) return { ports, inspector };
  }
  throw new Error("workerd ended before it listened");
}
