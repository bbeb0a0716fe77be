// Runs the Worker locally with wrangler and miniflare: KV is simulated, no Cloudflare account is needed. Rebuilds it
// when a file changes: the last Worker answers until the new one is ready, and after a failed build every response
// is the error.
//
// Variables come from wrangler.toml, .dev.vars or .env, and are read again when one of these is saved. Those of the Worker
// and of its tools in the environment replace them. Without AUTH, calls need the development key, which only this command
// configures. With AUTH=sign-in, a development user signs in without any other variable. With DEV_PROVIDER=1, users can
// authorize tools at a stand-in for every OAuth provider, and tools for GitHub call that, too. With AI=1, a bound Workers AI
// is that of a Cloudflare account.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { compileForDevelopment, replaceWorker } from "./build.js";
import { definitions, textsOfTools, variablesOfTools } from "./catalogue.js";
import { entryOf, token } from "./credentials.js";
import { Failure, endWith } from "./process.js";
import { serviceOf, standIn } from "./provider.js";
import { changes, failing, rebuild } from "./rebuild.js";
import { bindings, health, keepRunning, printer, reconfigure } from "./runtime.js";
import { needsRust } from "./rust.js";
import { site } from "./site.js";
import { typeErrors } from "./types.js";
import { misspelled, oversized, variables } from "./variables.js";

const DEVELOPMENT_KEY = "development-key";
/** Where `toolbooth build` writes the site. */
const SITE = "build/site";
/** The longest wait for wrangler to end, in milliseconds. */
const LONGEST_END = 5_000;
/** Where debuggers connect, with --inspect: the address that they expect. */
const INSPECTOR = { hostname: "localhost", port: 9229 };
/** The user of the development token. */
const USER = "developer";

/** Serves the Worker of the folder `crate` until it is interrupted. */
export async function dev({ crate = ".", port: given = "8787", env, inspect }) {
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw new Failure(`The port must be a number from 1 to 65535, not ${given}`, 2);
  }
  if (!(await isFree(port))) throw new Failure(`Port ${port} is already in use: choose a different one, such as PORT=8801 make dev or npm run dev -- --port 8801`);
  const address = `http://localhost:${port}`;

  // Send nothing to Cloudflare and fetch nothing from it.
  process.env.WRANGLER_SEND_METRICS ??= "false";
  process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
  // wrangler reads its configuration at the first change, perhaps half-written or empty, and misses the next one. `edits` below
  // waits until the file is complete.
  process.env.WRANGLER_CI_DISABLE_CONFIG_WATCHING = "true";
  const { unstable_getVarsForDev, unstable_readConfig, unstable_startWorker } = await import("wrangler");
  const readConfig = () => unstable_readConfig({ env }, { hideWarnings: true });
  const config = firstConfig(readConfig);
  // No change of a file would help.
  await needsRust(crate);
  const { DEV_PROVIDER } = process.env;
  const provider = DEV_PROVIDER && (await standIn(providers(crate), address, await serviceOf(DEV_PROVIDER, definitions(crate))));
  const stateKey = randomBytes(32).toString("base64");
  /** The settings, as the files and the definitions have them now, and the text of wrangler's configuration. */
  const read = () => {
    const { assets, userConfigPath, vars, secrets } = readConfig();
    const bound = Object.entries(unstable_getVarsForDev(userConfigPath, undefined, {}, env, true, secrets));
    const file = Object.fromEntries(bound.map(([name, { value }]) => [name, value]));
    const ofTools = ifReadable(() => variablesOfTools(crate));
    const chosen = variables(process.env, file, vars, ofTools, ifReadable(() => textsOfTools(crate)));
    // A service that the author has chosen, such as GitHub itself, stays.
    const set = { ...provider?.services, ...chosen, ...provider?.vars };
    const inherited = Object.keys(chosen).filter((name) => process.env[name]);
    const configuration = readFileSync(config.configPath, "utf8");
    const hasPlayground = assets && (set.SITE ?? vars.SITE) === "playground";
    return { ...configure(set, vars, address, stateKey), hasPlayground, configuration, inherited, misspelled: misspelled({ ...vars, ...file }, ofTools), oversized: oversized({ ...vars, ...chosen }) };
  };
  const edits = changes(filesOfVariables(config.configPath, env));
  await edits.next();
  let settings = read();
  // One may be set by accident, such as LOG.
  if (settings.inherited.length > 0) console.log(`From the environment: ${settings.inherited.join(", ")}`);

  // Any other folder has pages of the project.
  const assets = config.assets && resolve(dirname(config.configPath), config.assets.directory);
  if (assets === resolve(SITE)) await site(assets);
  const out = resolve(`.wrangler/dev-${port}`);
  process.once("exit", () => rmSync(out, { recursive: true, force: true }));
  let worker;
  // From the start: the first build takes minutes. wrangler handles signals, too, and may end the process.
  endWith(async () => {
    setTimeout(() => process.exit(0), LONGEST_END);
    await worker?.dispose();
    process.exit(0);
  });
  const watched = ["Cargo.toml", "Cargo.lock", config.build.watch_dir ?? "src", crate === "." ? [] : crate].flat();
  /** Why the Worker of the last build does not start. */
  let failure;
  const compile = async () => {
    const { bundle, ...others } = await compileForDevelopment({ crate: resolve(crate), out, assets });
    return { ...others, bundle: () => bundle().finally(() => (failure = undefined)) };
  };
  const builds = rebuild(watched, out, compile);
  console.log("Building the Worker. The first build compiles all dependencies, which takes minutes.");
  const onFailure = (reason) => {
    // The first of several functions says it: the others would replace it with each reload.
    if (failure !== undefined) return;
    failure = reason;
    replaceWorker(out, failing(reason));
  };
  let { value: built } = await builds.next();
  const lost = keepRunning(address, () => worker?.patchConfig({}), undefined, () => failure !== undefined);
  const options = {
    config: config.configPath,
    env,
    entrypoint: join(out, "worker.js"),
    // The configured command builds for deployment.
    build: { custom: { command: "" } },
    // Without an account, wrangler would wait for a connection to it.
    dev: { ...(!process.env.AI && { remote: false }), server: { hostname: "localhost", port }, inspector: inspect ? INSPECTOR : false, structuredLogsHandler: printer(readConfig, env, onFailure) },
  };
  if (inspect) console.log(`Debuggers connect to port ${INSPECTOR.port}: open chrome://inspect in Chrome, or attach that of an editor. Breakpoints can be set in tools/.`);
  const startWorker = async () => {
    worker = await unstable_startWorker({ ...options, bindings: bindings(settings.vars) });
    // If the first Worker does not start, wrangler reports that for every later one, too.
    once(worker.raw, "reloadComplete").catch(async () => {
      if (failure === undefined) return;
      await worker.dispose().catch(() => {});
      await startWorker();
    });
    await worker.ready;
  };
  await startWorker();
  if (!built || failure) console.log(`\nToolbooth is running on ${address}. Until the errors are corrected, every response contains them.\n`);

  let announced = false;
  const say = async (calls) => {
    announced = await announce(address, settings, calls, () => failure !== undefined);
  };
  let isApplied = true;
  /** Applies changes of variables, and of wrangler's configuration. */
  const update = async () => {
    try {
      const next = read();
      if (isApplied && isDeepStrictEqual(next.vars, settings.vars) && next.configuration === settings.configuration) return;
      settings = next;
      isApplied = false;
      await reconfigure(worker, settings.vars);
      isApplied = true;
    } catch ({ message }) {
      console.error(`The configuration was not applied: ${message}`);
      return;
    }
    console.log("The configuration has changed.");
    // The response of a failed build says nothing about variables.
    if (announced && built) await say([]);
  };
  const followBuilds = async () => {
    for (; ; ({ value: built } = await builds.next())) {
      // Beside the responses, which do not wait for it.
      if (built) printTypeErrors();
      // The tools may read other variables than before.
      if (built) await update();
      if (built && !announced) await say(ifReadable(() => samples(crate, provider)));
    }
  };
  const followVariables = async () => {
    for await (const _ of edits) await update();
  };
  try {
    await Promise.race([followBuilds(), followVariables(), lost]);
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exit(1);
  }
}

/** The configuration that the command starts with. */
function firstConfig(read) {
  let config;
  try {
    config = read();
  } catch ({ message }) {
    throw new Failure(`The configuration cannot be read: ${message}`);
  }
  if (config.configPath === undefined) throw new Failure("There is no wrangler.toml in this folder: run the command in the folder of a project");
  return config;
}

/** Whether types are being checked, and whether there has been a build since that began. */
let isChecking = false;
let isOutdated = false;
/**
 * Checks the types of tools in TypeScript, and prints what is wrong. One check runs at a time, and gives way to the Worker: the next call
 * must not wait for it.
 */
async function printTypeErrors() {
  isOutdated = true;
  if (isChecking) return;
  isChecking = true;
  while (isOutdated) {
    isOutdated = false;
    const errors = await typeErrors({ priority: constants.priority.PRIORITY_BELOW_NORMAL }).catch(({ message }) => message);
    if (errors && !isOutdated) console.error(`Type errors (the tools still run):\n${errors}`);
  }
  isChecking = false;
}

/** The files that set variables: wrangler's configuration, and those that it reads on this machine only. */
function filesOfVariables(config, env) {
  const names = env ? [".dev.vars", `.dev.vars.${env}`, ".env", ".env.local", `.env.${env}`, `.env.${env}.local`] : [".dev.vars", ".env", ".env.local"];
  return [config, ...names.map((name) => join(dirname(config), name))];
}

/** Adds the defaults of development to the variables in `set`. Returns them, and the credential that calls need if this command knows one. */
function configure(set, configured, address, stateKey) {
  set.AUTH ??= configured.AUTH || "api-key";
  const methods = set.AUTH.split(",").map((method) => method.trim());
  const withKey = methods.includes("api-key") && set.API_KEYS === undefined;
  if (withKey) set.API_KEYS = JSON.stringify([entryOf(DEVELOPMENT_KEY, "development", ["*"])]);
  // Locally, callers without credentials may call every tool. A deployed Worker gives them no scopes
  // unless its operator sets ANONYMOUS_SCOPES.
  if (methods.includes("none")) set.ANONYMOUS_SCOPES ??= "*";
  // People sign in at an address that their browser reaches.
  if (methods.includes("sign-in")) set.PUBLIC_URL ??= address;
  // Users authorize tools at an address that their browser reaches. Grants last as long as this run.
  if (set.OAUTH_PROVIDERS ?? configured.OAUTH_PROVIDERS) {
    set.PUBLIC_URL ??= address;
    set.GRANT_KEYS ??= `development:${stateKey}`;
  }
  // Some tools keep state between questions. A key for this run is enough to encrypt it.
  set.STATE_KEY ??= stateKey;
  // Allow only web pages served from this machine. The development key is public, so it would not stop
  // other pages.
  set.ALLOWED_ORIGINS = ["localhost", "127.0.0.1", "[::1]"]
    .flatMap((host) => [`http://${host}:*`, `https://${host}:*`])
    .join(",");
  // The Worker is reachable from this machine only, so callers without credentials may use the keys of model providers.
  set.DEVELOPMENT = "true";
  return { vars: set, anyone: methods.includes("none"), ...access(set, methods, withKey, address) };
}

/**
 * A sentence that says who may call, whether only people who sign in can, a valid key or token if this command knows one, and
 * the fragment that passes it to the playground.
 */
function access(set, methods, withKey, address) {
  if (methods.includes("none")) return { who: "Anyone may call, because AUTH includes none." };
  if (withKey) {
    return { who: `Calls need the development key: ${DEVELOPMENT_KEY}`, credential: DEVELOPMENT_KEY, fragment: `#key=${DEVELOPMENT_KEY}` };
  }
  if (methods.includes("sign-in") && !methods.includes("jwt")) {
    // A command has no token to send.
    return { who: `MCP clients sign in: give them the address ${address}/mcp.`, isForPeople: true };
  }
  if (methods.includes("jwt") && set.JWT_SECRET) {
    const aud = set.JWT_AUDIENCE?.split(",")[0].trim();
    const exp = Math.floor(Date.now() / 1000) + 900;
    const claims = { sub: USER, exp, ...(aud && { aud }), ...(set.JWT_ISSUER && { iss: set.JWT_ISSUER }) };
    return { who: "Calls need a token. The one below is valid for 15 minutes.", credential: token(claims, set.JWT_SECRET) };
  }
  return { who: "Calls need one of the credentials that you configured." };
}

/** Prints the address, problems of the configuration, the address of the playground if there is one, and calls to try. Returns whether the Worker has started. */
async function announce(address, { anyone, who, isForPeople, credential, fragment = "", misspelled, oversized, hasPlayground }, calls, hasFailed) {
  // /health reports problems only to callers with valid credentials, and the details to those with all scopes. The log has them.
  const headers = { accept: "application/json", ...(credential && { authorization: `Bearer ${credential}` }) };
  const found = await health(address, headers, hasFailed);
  if (found === undefined) return false;
  const { status, problems = ["see the log above"] } = found;
  console.log(`\nToolbooth is running on ${address}. ${who}`);
  for (const text of misspelled) console.log(text);
  // This machine has no such limit.
  for (const text of oversized) console.log(`Configuration problem: ${text}.`);
  if (status !== "OK") for (const problem of problems) console.log(`Configuration problem: ${problem}`);
  // A fragment is sent to no server.
  if (hasPlayground) console.log(`Open ${address}/playground${fragment} to call the tools from a form.`);
  if (isForPeople) {
    if (calls.some(({ call }) => call.context)) console.log("A stand-in answers for the OAuth providers: in the playground you can authorize tools that use an account.");
    return true;
  }
  const header = anyone ? "" : ` -H 'Authorization: Bearer ${credential ?? "…"}'`;
  for (const { title, call } of calls) {
    const body = JSON.stringify(call).replaceAll("'", "\\u0027");
    console.log(`${title}\n\ncurl ${address}/tools/call -H 'Content-Type: application/json'${header} -d '${body}'\n`);
  }
  return true;
}

/** What `read` returns of the definitions; nothing if one of them is not JSON, because the build says which one. */
function ifReadable(read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [];
  }
}

/** The ids of the OAuth providers that the tools need. */
function providers(crate) {
  const ids = definitions(crate).flatMap(({ requirements }) => requirements?.authorization ?? []).map(({ id }) => id);
  return [...new Set(ids)];
}

/**
 * Calls of the first tool that needs nothing of the caller and, with a stand-in provider, of the first one that needs
 * an authorization: the first example that succeeds. Tools that only read come first.
 */
function samples(crate, provider) {
  const known = definitions(crate);
  const readers = known.filter(({ annotations }) => annotations?.read_only);
  const first = (isWanted, context) => {
    for (const { id, requirements, examples = [] } of [...readers, ...known]) {
      const example = examples.find((example) => "value" in example && !example.setup);
      if (example && isWanted(requirements)) return { tool_id: id.split("@")[0], input: example.input, ...context };
    }
  };
  const plain = first((requirements) => !requirements);
  const authorized = provider && first((requirements) => requirements?.authorization && !requirements.secrets, { context: { user_id: USER } });
  return [
    ...(plain ? [{ title: "Try:", call: plain }] : []),
    ...(authorized ? [{ title: "Open the url in the response to authorize a tool at the stand-in provider, then call again:", call: authorized }] : []),
  ];
}

/** Whether nothing listens on the port. */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "localhost", () => server.close(() => resolve(true)));
  });
}
