// Serves the Worker locally: wrangler on miniflare, KV simulated, no Cloudflare account.
//   node scripts/dev.mjs [port] [folder of the bundle]
// AUTH and the variables that belong to it say who may call. Without AUTH, callers need the
// development key, which only this command configures. The tools of MCP's conformance suite need no
// key: the suite sends none, and they do nothing.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { entryOf, token } from "./credentials.mjs";

const DEVELOPMENT_KEY = "development-key";
const BUNDLE = process.argv[3] ?? "build";
const ACCESS = [
  ...["AUTH", "API_KEYS", "JWT_SECRET", "JWT_SECRET_PREVIOUS", "JWKS_URL", "JWT_AUDIENCE", "JWT_ISSUER", "JWT_LEEWAY"],
  "ANONYMOUS_SCOPES",
];

const port = Number(process.argv[2] ?? 8787);
if (!Number.isInteger(port) || port < 1 || port > 65535) {
  console.error(`PORT must be a number from 1 to 65535, not ${process.argv[2]}`);
  process.exit(2);
}
const address = `http://localhost:${port}`;

const set = Object.fromEntries(ACCESS.map((name) => [name, process.env[name]]).filter(([, value]) => value));
set.AUTH ??= BUNDLE === "build" ? "api-key" : "none";
const ways = set.AUTH.split(",").map((way) => way.trim());
const withKey = ways.includes("api-key") && set.API_KEYS === undefined;
if (withKey) set.API_KEYS = JSON.stringify([entryOf(DEVELOPMENT_KEY, "development", ["*"])]);
// Whoever may call without credentials may call every tool here. A Worker that is deployed gives such
// callers no scopes unless its operator does.
if (ways.includes("none")) set.ANONYMOUS_SCOPES ??= "*";

// Pages of this machine may call, so that one under development can. No other page may: the
// development key is in the README, so it protects nothing from them.
const ALLOWED_ORIGINS = ["localhost", "127.0.0.1", "[::1]"]
  .flatMap((host) => [`http://${host}:*`, `https://${host}:*`])
  .join(",");
const vars = { ...set, ALLOWED_ORIGINS };
// The fixtures ask users questions, and encrypt what they keep until the answer comes; a key for this run is enough.
if (BUNDLE !== "build") vars.STATE_KEY = randomBytes(32).toString("base64");
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
      // Nothing is sent to or fetched from Cloudflare.
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

const { who, credential } = caller();
// Only callers with good credentials are told what is wrong. The log above has it in any case.
const headers = credential && { authorization: `Bearer ${credential}` };
while (!stopping) {
  const health = await fetch(`${address}/health`, { headers }).catch(() => undefined);
  if (health) {
    const add = { tool_id: "Calculator.Add", input: { a: 10, b: 5 } };
    const call = BUNDLE === "build" ? add : { tool_id: "test.simple_text", input: {} };
    const header = ways.includes("none") ? "" : ` -H 'Authorization: Bearer ${credential ?? "…"}'`;
    console.log(`\nToolbooth serves on ${address}. ${who}`);
    const { status, problems = ["the log above says it"] } = await health.json();
    if (status !== "OK") for (const problem of problems) console.log(`What is wrong: ${problem}`);
    console.log(
      `Try:\n\ncurl ${address}/tools/call -H 'Content-Type: application/json'${header} -d '${JSON.stringify(call)}'\n`,
    );
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Who may call, in words, and the key or token that lets a call in, if it is known here. */
function caller() {
  if (ways.includes("none")) return { who: "Anybody may call: AUTH has none." };
  if (withKey) {
    return { who: `Callers need the development key: ${DEVELOPMENT_KEY}`, credential: DEVELOPMENT_KEY };
  }
  if (ways.includes("jwt") && set.JWT_SECRET) {
    const aud = set.JWT_AUDIENCE?.split(",")[0].trim();
    const exp = Math.floor(Date.now() / 1000) + 900;
    const claims = { sub: "developer", exp, ...(aud && { aud }), ...(set.JWT_ISSUER && { iss: set.JWT_ISSUER }) };
    return { who: "Callers need a token; this one is good for 15 minutes.", credential: token(claims, set.JWT_SECRET) };
  }
  return { who: "Callers need credentials of yours." };
}
