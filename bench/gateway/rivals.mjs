// Starts other gateways in front of stand-ins: LiteLLM's proxy, Portkey's gateway and NVIDIA's Switchyard, as their packages install them and
// as their documentation runs them.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { MODELS } from "../../tests/support/gateway/cases.mjs";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { freePort, HERE, run } from "./processes.mjs";

/** LiteLLM does not start without a key. */
const KEY = `sk-${"0123456789abcdef".repeat(4)}`;
/** What LiteLLM and Portkey call the makers whose servers have OpenAI's format: they have an adapter for each. */
const LITELLM_MAKERS = { deepseek: "deepseek", qwen: "dashscope", openrouter: "openrouter", moonshot: "moonshot", mistral: "mistral", zai: "zai", local: "hosted_vllm" };
const PORTKEY_MAKERS = { deepseek: "deepseek", qwen: "dashscope", openrouter: "openrouter", moonshot: "moonshot", mistral: "mistral-ai", zai: "z-ai", local: "openai" };

/** Local servers of the reports, with the keys that those have. */
const LOCAL = ["short", "blank"];

/** Everything: what a gateway offers unless it says otherwise. */
const everything = () => true;

/**
 * A gateway with `send`, from its `request`: `{ url, headers, body }`. `offers` says in which formats of clients it has which provider.
 * Of a provider in `MODELS`, that model is asked, or that of `target`: `{ model, maker }`.
 */
const gateway = (running, name, request, offers = everything) => {
  const send = (provider, body, signal, front, target) => {
    const { url, ...init } = request(provider, body, front, target);
    return fetch(url, { method: "POST", ...init, headers: { "content-type": "application/json", ...init.headers }, signal });
  };
  return { ...running, name, fronts: Object.keys(FRONTS).filter((front) => Object.keys(MODELS).some((provider) => offers(front, provider))), offers, request, send };
};

/**
 * LiteLLM's proxy with its Rust core switched on, which drops parameters that a provider does not have, as its documentation recommends.
 * `workers`: on a machine that is not one of many, as many as it has cores.
 */
export async function litellm(upstream, { workers = 1 } = {}) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "litellm-"));
  const at = { openai: { api_base: `${upstream.openai.base}/v1`, api_key: upstream.openai.key }, anthropic: { api_base: upstream.anthropic.base, api_key: upstream.anthropic.key }, gemini: { api_base: `${upstream.gemini.base}/v1beta`, api_key: upstream.gemini.key } };
  const targets = {
    openai: { model: `openai/${MODELS.openai}`, ...at.openai },
    anthropic: { model: `anthropic/${MODELS.anthropic}`, ...at.anthropic },
    gemini: { model: `gemini/${MODELS.gemini}`, ...at.gemini },
    "gemini-2.5": { model: `gemini/${MODELS["gemini-2.5"]}`, ...at.gemini },
    // Chats for it are asked in the format of Responses.
    responses: { model: `openai/responses/${MODELS.responses}`, ...at.openai },
    // Any model of these.
    ...Object.fromEntries(Object.keys(at).map((provider) => [`${provider}/*`, { model: `${provider}/*`, ...at[provider] }])),
  };
  if (upstream.compat) {
    const compat = { api_base: `${upstream.compat.base}/v1`, api_key: upstream.compat.key };
    for (const maker of Object.values(LITELLM_MAKERS)) targets[`${maker}/*`] = { model: `${maker}/*`, ...compat };
    for (const name of LOCAL) targets[`${name}/*`] = { model: `${LITELLM_MAKERS.local}/*`, api_base: `${upstream[name].base}/v1`, api_key: upstream[name].key };
  }
  const config = {
    model_list: Object.entries(targets).map(([model_name, litellm_params]) => ({ model_name, litellm_params })),
    litellm_settings: { drop_params: true, num_retries: 0, request_timeout: 20 },
    router_settings: { num_retries: 0, disable_cooldowns: true },
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
  const bin = process.env.LITELLM ?? join(HERE, ".venv/bin/litellm");
  const env = {
    LITELLM_RUST: "true",
    LITELLM_MODE: "PRODUCTION",
    LITELLM_LOG: "ERROR",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    LITELLM_MASTER_KEY: KEY,
    NO_DOCS: "True",
    DISABLE_ADMIN_UI: "True",
    PYTHONUNBUFFERED: "1",
  };
  const args = ["--config", join(folder, "config.yaml"), "--host", "127.0.0.1", "--port", `${port}`, "--num_workers", `${workers}`];
  const running = await run(bin, args, port, "/health/liveliness", env);
  const close = async () => {
    await running.close();
    await rm(folder, { recursive: true });
  };
  const named = (provider, target) => (target ? `${provider === "compat" ? LITELLM_MAKERS[target.maker] : provider}/${target.model}` : provider);
  const request = (provider, body, front = FRONTS.chat, target) => ({
    url: `${running.base}${front.path}`,
    headers: { authorization: `Bearer ${KEY}`, ...front.headers },
    body: JSON.stringify({ ...body, model: named(provider, target) }),
  });
  return { ...gateway(running, "LiteLLM", request), close };
}

/** LiteLLM with a worker for each core. */
export const litellmWhole = (upstream) => litellm(upstream, { workers: availableParallelism() });

/** Portkey translates chats for every provider; it passes on the other two formats to the providers that have them. */
const PORTKEY = { messages: ["anthropic"], responses: ["openai", "responses"] };

/** Portkey's gateway. Unless `compliant`, it also returns thinking and signatures, but the providers' own reasons to stop. */
export async function portkey(upstream, { compliant = true } = {}) {
  const port = await freePort();
  const modules = process.env.PORTKEY ?? join(HERE, "node_modules");
  const script = join(modules, "@portkey-ai/gateway/build/start-server.js");
  const hosts = { openai: `${upstream.openai.base}/v1`, anthropic: `${upstream.anthropic.base}/v1`, google: upstream.gemini.base };
  const env = { NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" };
  const running = await run(process.execPath, [script, `--port=${port}`, "--headless"], port, "/", env);
  const stand = (provider) => upstream[provider === "responses" ? "openai" : provider.split("-")[0]];
  const request = (provider, body, front = FRONTS.chat, target) => {
    const { provider: id, key, base } = stand(provider);
    const isCompatible = id === "compat" || LOCAL.includes(id);
    const name = id === "gemini" ? "google" : isCompatible ? PORTKEY_MAKERS[target.maker] : id;
    const headers = {
      "x-portkey-provider": name,
      "x-portkey-custom-host": isCompatible ? `${base}/v1` : hosts[name],
      "x-portkey-strict-open-ai-compliance": `${compliant}`,
      authorization: `Bearer ${key}`,
      ...front.headers,
    };
    return { url: `${running.base}${front.path}`, headers, body: JSON.stringify({ ...body, model: target?.model ?? MODELS[provider] }) };
  };
  return gateway(running, "Portkey", request, (front, provider) => front === "chat" || PORTKEY[front].includes(provider));
}

/** Which of Switchyard's clients for providers has which provider. It has none for Gemini. */
const SWITCHYARD = { openai: "openai_chat", responses: "openai_responses", anthropic: "anthropic_messages" };

/** Switchyard's server, which its documentation calls a demonstration: each model is a route that passes requests through. */
export async function switchyard(upstream) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-"));
  const own = (provider) => upstream[provider === "responses" ? "openai" : provider];
  const routes = Object.entries(SWITCHYARD).map(([name, format]) => `
[llm_clients.${name}]
format = "${format}"
base_url = "${own(name).base}/v1"
api_key_env = "KEY_${name.toUpperCase()}"
max_retries = 0
[targets.${name}]
id = "${MODELS[name]}"
llm_client = "${name}"
[routes.${name}]
id = "${name}"
type = "passthrough"
target = "${name}"
`);
  await writeFile(join(folder, "routes.toml"), `schema_version = 1\n${routes.join("")}`);
  const python = process.env.SWITCHYARD ?? join(HERE, ".venv/bin/python");
  const keys = Object.fromEntries(Object.keys(SWITCHYARD).map((name) => [`KEY_${name.toUpperCase()}`, own(name).key]));
  const running = await run(python, [join(HERE, "switchyard.py"), join(folder, "routes.toml"), `${port}`], port, "/v1/models", { ...keys, RUST_LOG: "error" });
  const close = async () => {
    await running.close();
    await rm(folder, { recursive: true });
  };
  const request = (provider, body, front = FRONTS.chat) => ({
    url: `${running.base}${front.path}`,
    headers: { ...front.headers },
    // OpenAI is asked in the format of its client.
    body: JSON.stringify({ ...body, model: provider === "openai" && front === FRONTS.responses ? "responses" : provider }),
  });
  return { ...gateway(running, "Switchyard", request, (front, provider) => provider in SWITCHYARD), close };
}

/** The versions that are installed. */
export async function versions() {
  const modules = process.env.PORTKEY ?? join(HERE, "node_modules");
  const { version } = JSON.parse(await readFile(join(modules, "@portkey-ai/gateway/package.json")));
  const requirements = await readFile(join(HERE, "requirements.txt"), "utf8");
  const pinned = (name) => new RegExp(`^${name}==(.+)$`, "m").exec(requirements)[1];
  return { LiteLLM: pinned("litellm"), Portkey: version, Switchyard: pinned("nemo-switchyard") };
}
