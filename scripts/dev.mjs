// Serves the Worker locally: wrangler on miniflare, KV simulated, no Cloudflare account.
//   node scripts/dev.mjs [port]
import { spawn } from "node:child_process";

const port = Number(process.argv[2] ?? 8787);
if (!Number.isInteger(port) || port < 1 || port > 65535) {
  console.error(`PORT must be a number from 1 to 65535, not ${process.argv[2]}`);
  process.exit(2);
}
const address = `http://localhost:${port}`;

// Any page may call the local server, so that a page under development can.
const wrangler = spawn(
  process.execPath,
  [
    "node_modules/wrangler/bin/wrangler.js",
    "dev",
    ...["--port", String(port), "--ip", "localhost", "--show-interactive-dev-session=false"],
    ...["--var", "ALLOWED_ORIGINS:*"],
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

while (!stopping) {
  const health = await fetch(`${address}/health`).catch(() => undefined);
  if (health) {
    const call = { tool_id: "Calculator.Add", input: { a: 10, b: 5 } };
    console.log(`\nToolbooth serves on ${address}. Try:\n`);
    console.log(
      `curl ${address}/tools/call -H 'Content-Type: application/json' -d '${JSON.stringify(call)}'\n`,
    );
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}
