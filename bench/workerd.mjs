// Starts one workerd in which each Worker is a service with a socket of its own, so that all
// share the process, its threads and whatever else the machine does meanwhile.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import workerd from "workerd";

import { ROOT, SCRATCH } from "./paths.mjs";

/** Writes workerd's configuration for `workers` and gives its path. */
export async function configure(workers) {
  const date = /^compatibility_date = (".+")$/m;
  const [, compatibilityDate] = date.exec(await readFile(join(ROOT, "wrangler.toml"), "utf8"));
  for (const { name, modules } of workers) {
    await mkdir(join(SCRATCH, "modules", name), { recursive: true });
    for (const module of modules) {
      await writeFile(join(SCRATCH, "modules", name, module.name), module.bytes);
    }
  }
  const services = workers.map(({ name, modules }) => {
    const embedded = modules.map(
      (module) => `(name = "${module.name}", ${module.type} = embed "modules/${name}/${module.name}")`,
    );
    const worker = `(compatibilityDate = ${compatibilityDate}, modules = [${embedded.join(", ")}])`;
    return `(name = "${name}", worker = ${worker})`;
  });
  // Port 0: the system picks a free one, and workerd reports it.
  const sockets = workers.map(
    ({ name }) => `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`,
  );
  const config = join(SCRATCH, `${workers.map(({ name }) => name).join("+")}.capnp`);
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${services.join(",\n    ")}
  ],
  sockets = [
    ${sockets.join(",\n    ")}
  ]
);
`,
  );
  return config;
}

/** Runs `use` with the process's id and the Workers' ports by name, then ends the process. */
export async function serve(config, use) {
  const child = spawn(workerd.default ?? workerd, ["serve", "--control-fd=3", config, "config"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const exit = once(child, "exit");
  try {
    return await use({ pid: child.pid, ports: await listening(child, config, exit) });
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
}

/** Waits until workerd has reported a port for every socket of `config`. */
async function listening(child, config, exit) {
  const wanted = (await readFile(config, "utf8")).match(/http = \(\)/g).length;
  const ports = {};
  const reported = async () => {
    for await (const line of createInterface({ input: child.stdio[3] })) {
      const { event, socket, port } = JSON.parse(line);
      if (event === "listen") ports[socket] = port;
      if (Object.keys(ports).length === wanted) return ports;
    }
    return exit;
  };
  const result = await reported();
  if (result !== ports) throw new Error("workerd ended before it listened");
  return ports;
}

export const { version } = workerd;
