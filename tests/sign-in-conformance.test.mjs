// The authorization part of MCP's conformance suite: a real client, whose person agrees in Chromium.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./support/chromium.mjs";
import { freePort, listens, run, serve } from "./support/commands.mjs";
import { discover, register } from "./support/oauth-client.mjs";
import { KEY, startSignIn } from "./support/sign-in-server.mjs";

const SUITE = "node_modules/.bin/conformance";

// A client with a secret chooses `none` as soon as the metadata have it. So they have only the method that the tests set.
const ONE_METHOD = `
let method = "none";
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/method") return new Response(method = await request.text());
    const response = await Worker.fetch(request, env, context);
    if (pathname !== "/.well-known/oauth-authorization-server") return response;
    return new Response(JSON.stringify({ ...(await response.json()), token_endpoint_auth_methods_supported: [method] }), response);
  },
};`;

let worker, address, browser, results;
before(async () => {
  results = mkdtempSync(join(tmpdir(), "conformance-"));
  worker = await startSignIn({}, ONE_METHOD);
  ({ address } = worker);
  browser = await launch();
});
after(async () => {
  rmSync(results, { recursive: true });
  await browser?.close();
  await worker?.close();
});

/**
 * Runs all scenarios for a client that registers itself and authenticates with `method`. `answer` presses a button of the
 * consent page. Returns the checks by scenario.
 */
async function scenarios(name, answer, method = "none") {
  const output = join(results, name);
  await fetch(`${address}/method`, { method: "POST", body: method });
  const as = await discover(address);
  // That of the suite's own callback.
  const port = await freePort();
  const client = await register(as, { redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: method });
  const secret = client.client_secret === undefined ? "" : `--client-secret '${client.client_secret}'`;
  const options = `--client-id '${client.client_id}' ${secret} --resource ${address}/mcp --port ${port} -o ${output}`;
  const command = `${SUITE} authorization --url ${address} ${options}`;
  const { found, ended, printed } = await serve(() => command, /^(http\S+\/oauth\/authorize\?\S+)$/m);
  // The suite prints the address before it listens.
  await listens(port);
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(found[1]);
  await answer(page);
  await ended;
  await page.close();
  assert.ok(existsSync(output), printed());
  const checks = readdirSync(output).map((folder) => JSON.parse(readFileSync(join(output, folder, "checks.json"))));
  return Object.fromEntries(checks.flat().map(({ id, status, errorMessage }) => [id, [status, errorMessage].filter(Boolean).join(": ")]));
}

test("the suite has these scenarios, and no others", async () => {
  const { out } = await run(`${SUITE} list --authorization`);
  const names = [...out.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(names, ["authorization-server-metadata-endpoint", "authorization-code-grant"]);
});

async function agree(page) {
  await page.getByLabel("API key of this server").fill(KEY);
  await page.getByRole("button", { name: "Allow with this key" }).click();
  await page.getByText("OK. You can close this page.").waitFor();
}

for (const method of ["none", "client_secret_post", "client_secret_basic"]) {
  test(`all scenarios pass for a person who agrees, and a client with ${method}`, async () => {
    assert.deepEqual(await scenarios(method, agree, method), {
      "authorization-server-metadata": "SUCCESS",
      "authorization-server-metadata-cimd": "SUCCESS",
      "authorization-code-grant": "SUCCESS",
    });
  });
}

test("a person who declines is reported to the client", async () => {
  const checks = await scenarios("declines", (page) => page.getByRole("button", { name: "Deny" }).click());
  assert.equal(checks["authorization-code-grant"], "FAILURE: Authorization error: access_denied");
});
