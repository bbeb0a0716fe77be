// Starts other gateways in front of the stand-ins: LiteLLM's proxy and Portkey's gateway, as their packages install them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The longest wait for a gateway to start, in milliseconds. */
const START = 120_000;
/** LiteLLM does not start without a key. */
const KEY = `sk-${"0123456789abcdef".repeat(4)}`;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a command that serves HTTP on `port`, and waits until `path` answers. */
async function run(command, args, port, path, env) {
  const child = spawn(command, args, { cwd: HERE, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output = (output + part).slice(-20_000)));
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const base = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${command} did not start: ${output}`);
    const reply = await fetch(`${base}${path}`).catch(() => undefined);
    if (reply?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const close = async () => {
    process.off("exit", end);
    end();
    await once(child, "exit");
  };
  return { base, pid: child.pid, close, output: () => output };
}

/** A gateway with `send`, from its `request`: `{ url, headers, body }`. `fronts` are the formats of clients that it has. */
const gateway = (running, name, fronts, request) => {
  const send = (provider, body, signal, front) => {
    const { url, ...init } = request(provider, body, front);
    return fetch(url, { method: "POST", ...init, headers: { "content-type": "application/json", ...init.headers }, signal });
  };
  return { ...running, name, fronts, request, send };
};

/** LiteLLM's proxy, which drops parameters that a provider does not have, as its documentation recommends. */
export async function litellm(upstream) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "litellm-"));
  const targets = {
    openai: { model: `openai/${MODELS.openai}`, api_base: `${upstream.openai.base}/v1`, api_key: upstream.openai.key },
    anthropic: { model: `anthropic/${MODELS.anthropic}`, api_base: upstream.anthropic.base, api_key: upstream.anthropic.key },
    gemini: { model: `gemini/${MODELS.gemini}`, api_base: `${upstream.gemini.base}/v1beta`, api_key: upstream.gemini.key },
    "gemini-2.5": { model: `gemini/${MODELS["gemini-2.5"]}`, api_base: `${upstream.gemini.base}/v1beta`, api_key: upstream.gemini.key },
    // Chats for it are asked in the format of Responses.
    responses: { model: `openai/responses/${MODELS.responses}`, api_base: `${upstream.openai.base}/v1`, api_key: upstream.openai.key },
  };
  const config = {
    model_list: Object.entries(targets).map(([model_name, litellm_params]) => ({ model_name, litellm_params })),
    litellm_settings: { drop_params: true, num_retries: 0, request_timeout: 20 },
    router_settings: { num_retries: 0, disable_cooldowns: true },
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const bin = process.env.LITELLM ?? join(HERE, ".venv/bin/litellm");
  const env = { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_LOG: "ERROR", NO_DOCS: "True", DISABLE_ADMIN_UI: "True", PYTHONUNBUFFERED: "1", LITELLM_MASTER_KEY: KEY };
  const args = ["--config", join(folder, "config.yaml"), "--host", "127.0.0.1", "--port", `${port}`, "--telemetry", "False"];
  const running = await run(bin, args, port, "/health/liveliness", env);
  const close = async () => {
    await running.close();
    await rm(folder, { recursive: true });
  };
  const request = (provider, body, front = FRONTS.chat) => ({
    url: `${running.base}${front.path}`,
    headers: { authorization: `Bearer ${KEY}`, ...front.headers },
    body: JSON.stringify({ ...body, model: provider }),
  });
  return { ...gateway(running, "LiteLLM", Object.keys(FRONTS), request), close };
}

/** Portkey's gateway. Unless `compliant`, it also returns thinking and signatures, but the providers' own reasons to stop. */
export async function portkey(upstream, { compliant = true } = {}) {
  const port = await freePort();
  const modules = process.env.PORTKEY ?? join(HERE, "node_modules");
  const script = join(modules, "@portkey-ai/gateway/build/start-server.js");
  const hosts = { openai: `${upstream.openai.base}/v1`, anthropic: `${upstream.anthropic.base}/v1`, google: upstream.gemini.base };
  const env = { TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" };
  const running = await run(process.execPath, [script, `--port=${port}`, "--headless"], port, "/", env);
  const request = (provider, body) => {
    const stand = upstream[provider === "responses" ? "openai" : provider.split("-")[0]];
    const name = stand.provider === "gemini" ? "google" : stand.provider;
    const headers = {
      "x-portkey-provider": name,
      "x-portkey-custom-host": hosts[name],
      "x-portkey-strict-open-ai-compliance": `${compliant}`,
      authorization: `Bearer ${stand.key}`,
    };
    return { url: `${running.base}/v1/chat/completions`, headers, body: JSON.stringify({ ...body, model: MODELS[provider] }) };
  };
  return gateway(running, "Portkey", ["chat"], request);
}

/** The versions that are installed. */
export async function versions() {
  const modules = process.env.PORTKEY ?? join(HERE, "node_modules");
  const { version } = JSON.parse(await readFile(join(modules, "@portkey-ai/gateway/package.json")));
  const requirements = await readFile(join(HERE, "requirements.txt"), "utf8").catch(() => "");
  return { LiteLLM: /^litellm==(.+)$/m.exec(requirements)?.[1], Portkey: version };
}
