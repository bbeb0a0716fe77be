// Proves that a project of one's own works: packs the npm packages and the crates, creates a project from them in an
// empty folder with an empty home directory, and uses it as its README says. Prints how long each step took.
//
// The Rust toolchain, Cargo's and npm's caches and their settings are those of this machine. REUSE=1 also uses the
// worker-build and wasm-bindgen that are installed here, Cargo.lock, and CARGO_TARGET_DIR if it is set.
import assert from "node:assert/strict";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run, serve } from "../tests/support/commands.mjs";

const root = new URL("..", import.meta.url).pathname;
const CRATES = ["toolbooth-schema", "toolbooth", "toolbooth-build", "toolbooth-worker"];
/** The longest wait for a build while the server runs, in milliseconds. */
const DEADLINE = 120_000;

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-prove-"));
const [packed, home, folder] = ["packed", "home", "my-tools"].map((name) => join(scratch, name));
for (const path of [packed, home]) mkdirSync(path);
const env = {
  HOME: home,
  XDG_CACHE_HOME: join(home, ".cache"),
  CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), ".cargo"),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup"),
  npm_config_userconfig: join(homedir(), ".npmrc"),
  npm_config_cache: join(homedir(), ".npm"),
  ...(process.env.REUSE ? { TOOLS: join(root, ".tools/bin") } : { TOOLS: undefined, CARGO_TARGET_DIR: undefined }),
};
const times = [];

/** Runs a step and records how long it took. */
async function step(name, work) {
  console.log(`== ${name}`);
  const start = performance.now();
  const result = await work();
  times.push([name, (performance.now() - start) / 1000]);
  return result;
}

/** Runs a command in the project. Fails, with its output, if it fails. */
async function command(text, cwd = folder, more = env) {
  const { code, out, err } = await run(text, { cwd, env: more });
  assert.equal(code, 0, `${text}\n${out}${err}`);
  return out;
}

const only = (folder, pattern) => readdirSync(folder).find((name) => pattern.test(name)) ?? assert.fail(`${pattern} in ${folder}`);

try {
  await step("pack the packages and the crates", async () => {
    for (const name of ["toolbooth", "create-toolbooth"]) {
      await command(`npm pack --silent --pack-destination ${packed}`, join(root, "packages", name), {});
    }
    const target = join(scratch, "target");
    const selected = CRATES.map((name) => `--package ${name}`).join(" ");
    await command(`cargo package --quiet --no-verify --allow-dirty --target-dir ${target} ${selected}`, root, {});
    for (const file of readdirSync(join(target, "package")).filter((name) => name.endsWith(".crate"))) {
      await command(`tar xzf ${join(target, "package", file)} -C ${packed}`, root, {});
    }
  });

  const manifest = join(folder, "Cargo.toml");
  await step("npm create toolbooth my-tools", async () => {
    await command(`npm exec --yes --package ${join(packed, only(packed, /^create-toolbooth/))} -- create-toolbooth my-tools`, scratch);
    // What a registry would do.
    const packages = join(folder, "package.json");
    const tarball = join(packed, only(packed, /^toolbooth-[\d.]+\.tgz$/));
    writeFileSync(packages, readFileSync(packages, "utf8").replace(/"toolbooth": "[\d.]+"/, `"toolbooth": "file:${tarball}"`));
    const patches = CRATES.map((name) => `${name} = { path = "${join(packed, only(packed, new RegExp(`^${name}-[\\d.]+$`)))}" }\n`);
    if (process.env.REUSE) cpSync(join(root, "Cargo.lock"), join(folder, "Cargo.lock"));
    appendFileSync(manifest, `\n[patch.crates-io]\n${patches.join("")}`);
  });
  await step("npm install", () => command("npm install --no-fund --no-audit --loglevel=error"));
  await step("npx toolbooth doctor", async () => {
    const out = await command("npx toolbooth doctor");
    assert.doesNotMatch(out, /MISSING/);
  });

  const call = async (port, tool, input) => {
    const response = await fetch(`http://localhost:${port}/tools/call`, {
      method: "POST",
      headers: { authorization: "Bearer development-key", "content-type": "application/json" },
      body: JSON.stringify({ tool_id: tool, input }),
    }).catch((error) => ({ status: 0, text: () => `${error}` }));
    return { status: response.status, text: await response.text() };
  };
  /** Calls until the response matches; in between, only responses that match `meanwhile` are allowed. */
  const until = async (port, tool, pattern, meanwhile) => {
    for (const end = performance.now() + DEADLINE; ; await sleep(200)) {
      const { status, text } = await call(port, tool, { name: "Ada" });
      if (pattern.test(text)) return status;
      assert.match(text, meanwhile);
      assert.ok(performance.now() < end, `no ${pattern}: ${text}`);
    }
  };

  const { port, found: [line], interrupt } = await step("npm run dev, from nothing to the first call", () =>
    serve((port) => `npm run dev -- --port ${port}`, /^curl .*$/m, { cwd: folder, env }),
  );
  try {
    assert.match(await command(`${line} --silent --show-error`), /"value":"Hello, Ada!"/);
    const page = await fetch(`http://localhost:${port}/playground`);
    assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    await step("npx toolbooth tool, until it answers", async () => {
      await command("npx toolbooth tool Text.Shout");
      await until(port, "Text.Shout", /"value":"Hello, Ada!"/, /There is no tool|not found|unknown/i);
    });
    const code = join(folder, "tools/text/mod.rs");
    const good = readFileSync(code, "utf8");
    for (const greeting of ["Hi", "Good morning", "Welcome"]) {
      await step("a save, until it answers", async () => {
        writeFileSync(code, good.replace("Hello", greeting));
        await until(port, "Text.Shout", new RegExp(`"value":"${greeting}, Ada!"`), /"value"/);
      });
    }
    await step("a save with an error, until it is the response", async () => {
      writeFileSync(code, good.replace("format!", "fromat!"));
      assert.equal(await until(port, "Text.Shout", /"error":"build_failed".*fromat/s, /"value"/), 503);
    });
    await step("its correction, until it answers", async () => {
      writeFileSync(code, good);
      assert.equal(await until(port, "Text.Shout", /"value":"Hello, Ada!"/, /build_failed/), 200);
    });
  } finally {
    await interrupt();
  }

  await step("npm test", () => command("npm test"));
  await step("npm run build", () => command("npm run build"));
  await step("npm run deploy -- --dry-run", async () => {
    const out = await command("npm run deploy -- --dry-run");
    console.log(/Total Upload.*/.exec(out)?.[0]);
  });
  await step("npm run deploy -- --dry-run --env staging", () => command("npm run deploy -- --dry-run --env staging"));
  await step("cargo generate", async () => {
    const missing = (await run("cargo generate --version")).code !== 0;
    console.log(missing ? "cargo-generate is not installed: skipped" : "");
    if (missing) return;
    await command(`cargo generate --path ${join(root, "template")} --name generated --silent`, scratch);
    assert.ok(existsSync(join(scratch, "generated/wrangler.toml")));
  });

  console.log(`\n${times.map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${name}`).join("\n")}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
