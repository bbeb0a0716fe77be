// The server card of MCP (SEP-2127): where it is, and that it says what the server says. Native tests: server::mcp::the_server_card_….
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { freePort } from "./support/commands.mjs";
import { modern } from "./support/mcp.mjs";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

let worker, address;
before(async () => {
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const vars = { AUTH: "none, api-key", API_KEYS: JSON.stringify([entryOf(`${CANARY}-key-of-ada`, "Ada", ["*"])]), PUBLIC_URL: address };
  worker = await start(FIXTURES, { port, vars });
});
after(() => worker?.close());

test("the server card is at three addresses, for pages of every origin", async () => {
  let first;
  for (const path of ["/mcp/server-card", "/.well-known/mcp/server-card.json", "/.well-known/mcp/server-card"]) {
    const reply = await worker.get(path, { origin: "https://directory.example" });
    assert.equal(reply.status, 200, reply.text);
    const { headers, json } = reply;
    assert.deepEqual(
      [headers["content-type"], headers["access-control-allow-origin"], headers["cache-control"]],
      ["application/mcp-server-card+json", "*", "public, max-age=3600"],
    );
    const discovered = (await modern(worker, "server/discover")).json.result._meta["io.modelcontextprotocol/serverInfo"];
    assert.deepEqual([json.title, json.version], [discovered.title, discovered.version]);
    assert.deepEqual([json.name, json.remotes.length, json.remotes[0].url], ["127.0.0.1/mcp", 1, `${address}/mcp`]);
    assert.deepEqual(json.remotes[0].headers.map(({ name, isRequired }) => [name, isRequired]), [["Authorization", false]]);
    assert.deepEqual(json, (first ??= json));
    assert.deepEqual([(await worker.get(path, { "if-none-match": headers.etag })).status, (await worker.request("HEAD", path)).status], [304, 200]);
    const preflight = { origin: "https://directory.example", "access-control-request-method": "GET" };
    const allowed = await worker.request("OPTIONS", path, { headers: preflight });
    assert.deepEqual([allowed.status, allowed.headers["access-control-allow-origin"]], [204, "*"]);
    assert.equal((await worker.post({}, { path })).status, 405);
  }
});
