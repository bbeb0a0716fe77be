// What is measured: requests without a gateway, Workers that only pass on, Toolbooth, and other gateways. All are in front of the same
// provider, which answers at once, and each is a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { KEY, STATE_KEY, model, variables } from "../../tests/support/gateway/worker.mjs";
import { KEYS } from "../../tests/support/providers/stand-in.mjs";
import { ROOT, SCRATCH } from "../paths.mjs";
import { configure, serve } from "../workerd.mjs";
import { ours } from "../workers.mjs";
import { litellmWhole, portkey, switchyard } from "./rivals.mjs";

export const DIRECT = "direct";
export const PIPES = "a Worker that only pipes";
export const READS = "a Worker that reads and writes each chunk";
export const OURS = "Toolbooth";

/** The other gateways, by name. */
export const RIVALS = { litellm: litellmWhole, portkey, switchyard };

/** What docs/GATEWAY.md says that agents with Chat Completions need: their tools have long descriptions. */
const AGENTS = { MAX_TOOL_DESCRIPTION: "4096" };

/** The format in which a provider is asked without a gateway, and its credentials. */
const ownFront = ({ front, provider }) => (provider === "anthropic" ? FRONTS.messages : front === FRONTS.responses ? front : FRONTS.chat);
const CREDENTIALS = { openai: { authorization: `Bearer ${KEYS.openai}` }, anthropic: { "x-api-key": KEYS.anthropic } };

/** Asks a provider at `base` in its own format. `bodyOf(front)` is the request in a format. */
const plain = (base) => (route, bodyOf) => {
  const front = ownFront(route);
  return { url: `${base}${front.path}`, headers: { ...front.headers, ...CREDENTIALS[route.provider] }, body: JSON.stringify({ ...bodyOf(front), model: MODELS[route.provider] }) };
};

/** Starts the provider. */
async function start() {
  const child = spawn(process.execPath, [join(import.meta.dirname, "upstream.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const close = () => {
    process.off("exit", end);
    end();
  };
  return { pid: child.pid, base: `http://127.0.0.1:${port}`, close };
}

/** Starts Workers, each in a workerd of its own, and runs `use` with their processes and ports by name. */
async function served([worker, ...others], use, running = {}) {
  if (worker === undefined) return use(running);
  return serve(await configure([worker]), ({ pid, ports }) => served(others, use, { ...running, [worker.name]: { pid, base: `http://127.0.0.1:${ports[worker.name]}` } }), { output: "ignore" });
}

/**
 * Starts everything, and runs `use` with the provider and the subjects: `{ name, pid, offers, ask }`, where `ask(route, bodyOf)` is a
 * request: `{ url, headers, body }`. `rivals` names the other gateways.
 */
export async function withSubjects(rivals, use) {
  const provider = await start();
  const stand = (name) => ({ base: provider.base, key: KEYS[name], provider: name });
  const upstream = { openai: stand("openai"), anthropic: stand("anthropic"), gemini: stand("gemini") };
  const started = [];
  try {
    for (const name of rivals) started.push(await RIVALS[name](upstream));
    await mkdir(SCRATCH, { recursive: true });
    const written = async (name) => ({ name, modules: [{ name: `${name}.js`, type: "esModule", bytes: await readFile(join(import.meta.dirname, `${name}.worker.mjs`)) }], variables: { UPSTREAM: provider.base } });
    const worker = { ...(await ours("gateway", OURS, join(ROOT, "target/samples"))), variables: { ...variables(upstream), STATE_KEY, ...AGENTS } };
    return await served([await written("pipe"), await written("read"), worker], ({ pipe, read, gateway }) => {
      const everything = () => true;
      const toolbooth = ({ front, provider }, bodyOf) => ({
        url: `${gateway.base}${front.path}`,
        headers: { authorization: `Bearer ${KEY}`, ...front.headers },
        body: JSON.stringify({ ...bodyOf(front), model: model(provider) }),
      });
      return use(provider, [
        { name: DIRECT, pid: provider.pid, offers: everything, ask: plain(provider.base) },
        { name: PIPES, pid: pipe.pid, offers: everything, ask: plain(pipe.base) },
        { name: READS, pid: read.pid, offers: everything, ask: plain(read.base) },
        { name: OURS, pid: gateway.pid, offers: everything, ask: toolbooth },
        ...started.map(({ name, pid, offers, request }) => ({ name, pid, offers: (route) => offers(route.front.name, route.provider), ask: ({ front, provider }, bodyOf) => request(provider, bodyOf(front), front) })),
      ]);
    });
  } finally {
    for (const rival of started) await rival.close();
    provider.close();
  }
}
