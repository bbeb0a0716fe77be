// What registries and directories of MCP servers get to know: server.json, and what they would object to in tools.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { remarks } from "../packages/toolbooth/src/directory.js";
import { problems } from "../packages/toolbooth/src/registry.js";
import { root, run } from "./support/commands.mjs";

const read = (...path) => readFileSync(join(...path), "utf8");

test("server.json describes the server to MCP's registry, with the members that the file has already", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name, text) => writeFileSync(join(folder, name), text);
  const manifest = (version) => write("Cargo.toml", `[package]\nname = "tools"\nversion = "${version}"\nedition = "2024"\nrepository = "https://github.com/ada/tools"\n[lib]\npath = "lib.rs"\n[package.metadata.toolbooth]\ntitle = "Ada's tools"\n[workspace]\n`);
  write("lib.rs", "");
  manifest("1.2.0");
  const registry = (args, auth = "api-key") => {
    write("wrangler.toml", `name = "tools"\nmain = "worker.js"\n[vars]\nAUTH = "${auth}"\n`);
    return run(`node ${root}/packages/toolbooth/bin/toolbooth.js registry ${args}`, { cwd: folder });
  };
  const [NAME, URL] = ["com.example.tools/tools", "https://tools.example.com"];
  const first = await registry(`${NAME} ${URL} --description 'Tools for Ada'`);
  assert.equal(first.code, 0, first.err);
  const written = () => JSON.parse(read(folder, "server.json"));
  const variable = { description: "The key that the operator of the server gave you", isRequired: true, isSecret: true };
  assert.deepEqual(written(), {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: NAME,
    title: "Ada's tools",
    description: "Tools for Ada",
    version: "1.2.0",
    repository: { url: "https://github.com/ada/tools", source: "github" },
    websiteUrl: URL,
    remotes: [
      {
        type: "streamable-http",
        url: `${URL}/mcp`,
        headers: [{ name: "Authorization", description: "An API key of this server", value: "Bearer {api_key}", isRequired: true, isSecret: true, variables: { api_key: variable } }],
      },
    ],
  });
  assert.match(first.out, /MCP_REGISTRY_AUTH.*https:\/\/tools\.example\.com\/\.well-known\/mcp-registry-auth[^]*login http --domain tools\.example\.com[^]*mcp-publisher publish[^]*icons/);
  assert.match(first.out, /server-card says the same with these lines in wrangler\.toml:\n {2}MCP_SERVER_NAME = "com\.example\.tools\/tools"\n {2}MCP_DESCRIPTION = "Tools for Ada"\n/);
  // What the file has, and a new version.
  const icons = [{ src: "https://example.com/icon.png" }];
  write("server.json", JSON.stringify({ ...written(), icons }));
  manifest("1.3.0");
  for (const [name, auth, required, steps] of [
    [NAME, "api-key, sign-in", [false], /login http --domain tools\.example\.com/],
    ["com.example/tools", "sign-in", undefined, /Serve the line that this prints at https:\/\/example\.com[^]*begin with com\.example\.tools\//],
    ["io.github.ada/tools", "none", undefined, /as ada at GitHub:\n {2}mcp-publisher login github/],
  ]) {
    const { code, out, err } = await registry(`${name} ${URL}`, auth);
    assert.equal(code, 0, err);
    const { version, description, remotes, ...rest } = written();
    assert.deepEqual([version, description, rest.icons, remotes[0].headers?.map((it) => it.isRequired)], ["1.3.0", "Tools for Ada", icons, required], auth);
    assert.match(out, steps);
  }
  for (const [change, message] of [
    [{}, undefined],
    [{ name: "tools" }, /^NAME is "tools"; expected a reversed domain/],
    [{ name: "a.b/c/d" }, /^NAME/],
    ...["http://tools.example.com", "https://localhost:8787", "https://10.0.0.1", "https://tools.internal", `${URL}/other`, `${URL}?a`, "https://a@example.com", ""].map((url) => [{ remotes: [{ url: `${url}/mcp` }] }, /^URL is .*expected the public address/]),
    [{ description: "x".repeat(101) }, /^DESCRIPTION has 101 characters; expected 1 to 100/],
    [{ description: "" }, /^DESCRIPTION has 0/],
    [{ title: "" }, /^title/],
    [{ version: "latest" }, /^version/],
    [{ websiteUrl: "ftp://example.com" }, /websiteUrl/],
    [{ icons: [{ src: "icon.png" }] }, /icons/],
    [{ icons: "icon.png" }, /icons/],
  ]) {
    const found = problems({ ...written(), ...change });
    assert.equal(found.length, message ? 1 : 0, JSON.stringify(change));
    if (message) assert.match(found[0], message);
  }
  const unnamed = await registry("");
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /^Name the server and its address: /);
  // As make gives them.
  assert.deepEqual((await registry("-- '' ''")).err.match(/^\w+/gm).slice(0, 2), ["NAME", "URL"]);
  write("server.json", "[]");
  assert.match((await registry(`${NAME} ${URL}`)).err, /server\.json must be a JSON object/);
});

test("what directories would object to in tools", () => {
  const good = { id: "A.Get@1.0.0", version: "1.0.0", title: "Get", description: "Returns what is stored.", annotations: { read_only: true, destructive: false } };
  for (const [change, objection] of [
    [{}, undefined],
    [{ title: undefined }, /has no title/],
    [{ annotations: { read_only: true } }, /does not say/],
    [{ annotations: { read_only: true, destructive: true } }, /cannot destroy/],
    [{ description: "Gets it." }, /fewer than 20/],
    [{ input_schema: { properties: { action: { enum: ["get_item", "delete_item"] } } } }, /reads and writes/],
    [{ input_schema: { properties: { action: { enum: ["get", "list", 1] }, other: true } } }, undefined],
  ]) {
    const found = remarks([{ ...good, ...change }]);
    assert.equal(found.length, objection ? 1 : 0, String(objection));
    if (objection) assert.match(found[0], objection);
  }
  const old = { ...good, id: "A.Get@0.9.0", version: "0.9.0", title: undefined };
  assert.deepEqual(remarks([good, old]), [], "only the latest version is listed");
});
