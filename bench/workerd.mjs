// Starts one workerd with all Workers, each on its own socket, so that they share the process, its threads
// and any interference.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import workerd from "workerd";

import { ROOT, SCRATCH } from "./paths.mjs";

export const { version } = workerd;

const run = promisify(execFile);

/** Writes a configuration with all `workers` for `serve`. The `variables` of a Worker are its text
 *  bindings, and its `objects` the classes of its Durable Objects, by binding. Their storage is empty. */
export async function configure(workers) {
  const names = workers.map(({ name }) => name);
  const deployed = await readFile(join(ROOT, "wrangler.toml"), "utf8");
  const [, compatibilityDate] = /^compatibility_date = (".+")$/m.exec(deployed);
  const [, compatibilityFlags] = /^compatibility_flags = (\[.+\])$/m.exec(deployed);
  for (const { name, modules } of workers) {
    await mkdir(join(SCRATCH, "modules", name), { recursive: true });
    for (const module of modules) {
      await writeFile(join(SCRATCH, "modules", name, module.name), module.bytes);
    }
  }
  const services = workers.map(({ name, modules, variables = { AUTH: "none", ANONYMOUS_SCOPES: "*" }, objects = {} }) => {
    const embedded = modules.map(
      (module) =>
        `(name = "${module.name}", ${module.type} = embed "modules/${name}/${module.name}")`,
    );
    // Off unless the log is what is compared: the others write none.
    const bindings = Object.entries({ LOG: "off", ...variables }).map(
      ([variable, value]) => `(name = "${variable}", text = ${JSON.stringify(value)})`,
    );
    const namespaces = [];
    for (const [binding, className] of Object.entries(objects)) {
      bindings.push(`(name = "${binding}", durableObjectNamespace = "${className}")`);
      namespaces.push(`(className = "${className}", uniqueKey = "${name}-${className}", enableSql = true)`);
    }
    const storage = `durableObjectNamespaces = [${namespaces.join(", ")}], durableObjectStorage = (localDisk = "storage")`;
    // Ours has what its deployment sets, and pays for it.
    const isOurs = modules.some(({ type }) => type === "wasm");
    const compatibility = `compatibilityDate = ${compatibilityDate}${isOurs ? `, compatibilityFlags = ${compatibilityFlags}` : ""}`;
    const worker = `(${compatibility}, modules = [${embedded.join(", ")}], bindings = [${bindings.join(", ")}], ${storage})`;
    return `(name = "${name}", worker = ${worker})`;
  });
  // A folder, because workerd has no SQL in memory.
  const storage = join(SCRATCH, "storage");
  await rm(storage, { recursive: true, force: true });
  await mkdir(storage, { recursive: true });
  services.push(`(name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true))`);
  // Allow fetches to private addresses: the token issuer runs on this machine.
  services.push(`(name = "internet", network = (allow = ["private"]))`);
  // Port 0: the system chooses a free port, and workerd reports it.
  const sockets = names.map(
    (name) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`,
  );
  const list = (items) => `[\n    ${items.join(",\n    ")}\n  ]`;
  const source = join(SCRATCH, `${names.length === 1 ? names[0] : "all"}.capnp`);
  await writeFile(
    source,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = ${list(services)},
  sockets = ${list(sockets)}
);
`,
  );
  // Encoded, so that a start does not include the time to read a text with megabytes of modules: a deployment has none.
  const path = source.replace(/capnp$/, "bin");
  const { stdout } = await run(workerd.default, ["compile", "--config-only", source, "config"], { encoding: "buffer", maxBuffer: 1e9 });
  await writeFile(path, stdout);
  return { path, names };
}

/** Runs `use` with the process id and the Workers' ports by name, then ends the process. If `inspected`,
 *  `inspector` is the port of the inspector. `output` says where what the Workers log goes: "pipe" passes it to `use`. */
export async function serve({ path, names }, use, { inspected = false, output = "inherit" } = {}) {
  const flags = ["--control-fd=3", ...(inspected ? ["--inspector-addr=127.0.0.1:0"] : [])];
  const child = spawn(workerd.default, ["serve", ...flags, "--binary", path], {
    stdio: ["ignore", output, output === "pipe" ? "inherit" : output, "pipe"],
  });
  const exit = once(child, "exit");
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  try {
    return await use({ pid: child.pid, output: child.stdout, ...(await listening(child, names)) });
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
  throw new Error("workerd exited before it listened on all sockets");
}
