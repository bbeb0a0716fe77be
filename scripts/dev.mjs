// Runs the Worker locally with wrangler and miniflare: KV is simulated, no Cloudflare account is needed.
//   node scripts/dev.mjs [port] [folder of the bundle]
// Set AUTH and its variables to choose who may call. Without AUTH, calls need the development key, which
// only this command configures. With AUTH=sign-in, a development user signs in without any other variable. The
// tools of MCP's conformance suite need no key: the suite sends none, and the tools are harmless. wrangler reads
// secrets, such as the keys of model providers, from .dev.vars; this script only needs those that AUTH_VARIABLES
// names.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { entryOf, token } from "./credentials.mjs";

const DEVELOPMENT_KEY = "development-key";
const BUNDLE = process.argv[3] ?? "build";
const AUTH_VARIABLES = [
  ...["AUTH", "API_KEYS", "JWT_SECRET", "JWT_SECRET_PREVIOUS", "JWKS_URL", "JWT_AUDIENCE", "JWT_ISSUER", "JWT_LEEWAY"],
  ...["ANONYMOUS_SCOPES", "PUBLIC_URL", "STATE_KEY"],
];

const port = Number(process.argv[2] ?? 8787);
if (!Number.isInteger(port) || port < 1 || port > 65535) {
  console.error(`PORT must be a number from 1 to 65535, not ${process.argv[2]}`);
  process.exit(2);
}
const address = `http://localhost:${port}`;

const file = existsSync(".dev.vars") ? parseEnv(readFileSync(".dev.vars", "utf8")) : {};
const set = Object.fromEntries(AUTH_VARIABLES.map((name) => [name, process.env[name] || file[name]]).filter(([, value]) => value));
set.AUTH ??= BUNDLE === "build" ? "api-key" : "none";
const methods = set.AUTH.split(",").map((method) => method.trim());
const withKey = methods.includes("api-key") && set.API_KEYS === undefined;
if (withKey) set.API_KEYS = JSON.stringify([entryOf(DEVELOPMENT_KEY, "development", ["*"])]);
// Sign-in needs an address that browsers reach, and a key. A key for this run is enough: clients sign in again.
if (methods.includes("sign-in")) {
  set.PUBLIC_URL ??= address;
  set.STATE_KEY ??= randomBytes(32).toString("base64");
}
// Locally, callers without credentials may call every tool. A deployed Worker gives them no scopes
// unless its operator sets ANONYMOUS_SCOPES.
if (methods.includes("none")) set.ANONYMOUS_SCOPES ??= "*";

// Allow only web pages served from this machine. The development key is public, so it would not stop
// other pages.
const ALLOWED_ORIGINS = ["localhost", "127.0.0.1", "[::1]"]
  .flatMap((host) => [`http://${host}:*`, `https://${host}:*`])
  .join(",");
// The Worker is reachable from this machine only, so callers without credentials may use the keys of model providers.
const vars = { ...set, ALLOWED_ORIGINS, DEVELOPMENT: "true" };
// Some tools of the conformance suite keep state between questions. A key for this run is enough to encrypt it.
if (BUNDLE !== "build") vars.STATE_KEY ??= randomBytes(32).toString("base64");
const wrangler = spawn(
  process.execPath,
  [
    "node_modules/wrangler/bin/wrangler.js",
    "dev",
    ...(BUNDLE === "build" ? [] : [`${BUNDLE}/worker.js`]),
    ...["--port", String(port), "--ip", "localhost", "--show-interactive-dev-session=false"],
    ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
  ],
  {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      // Send nothing to Cloudflare and fetch nothing from it.
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
  },
);

let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    stopping = true;
    wrangler.kill("SIGINT");
  });
}
wrangler.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));

const { who, credential } = access();
// /health reports problems only to callers with valid credentials. The log above always has them.
const headers = credential && { authorization: `Bearer ${credential}` };
while (!stopping) {
  const health = await fetch(`${address}/health`, { headers }).catch(() => undefined);
  if (health) {
    const add = { tool_id: "Calculator.Add", input: { a: 10, b: 5 } };
    const call = BUNDLE === "build" ? add : { tool_id: "test.simple_text", input: {} };
    const header = methods.includes("none") ? "" : ` -H 'Authorization: Bearer ${credential ?? "…"}'`;
    console.log(`\nToolbooth is running on ${address}. ${who}`);
    const { status, problems = ["see the log above"] } = await health.json();
    if (status !== "OK") for (const problem of problems) console.log(`Configuration problem: ${problem}`);
    console.log(
      `Try:\n\ncurl ${address}/tools/call -H 'Content-Type: application/json'${header} -d '${JSON.stringify(call)}'\n`,
    );
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}

/** A sentence that says who may call, and a valid key or token if this script knows one. */
function access() {
  if (methods.includes("none")) return { who: "Anyone may call, because AUTH includes none." };
  if (withKey) {
    return { who: `Calls need the development key: ${DEVELOPMENT_KEY}`, credential: DEVELOPMENT_KEY };
  }
  if (methods.includes("sign-in") && !methods.includes("jwt")) {
    return { who: `MCP clients sign in: give them the address ${address}/mcp.` };
  }
  if (methods.includes("jwt") && set.JWT_SECRET) {
    const aud = set.JWT_AUDIENCE?.split(",")[0].trim();
    const exp = Math.floor(Date.now() / 1000) + 900;
    const claims = { sub: "developer", exp, ...(aud && { aud }), ...(set.JWT_ISSUER && { iss: set.JWT_ISSUER }) };
    return { who: "Calls need a token. The one below is valid for 15 minutes.", credential: token(claims, set.JWT_SECRET) };
  }
  return { who: "Calls need one of the credentials that you configured." };
}
