// Proves that a project of one's own works without a clone: packs the npm packages and the crates, creates a project from them in
// an empty folder with an empty home directory, uses it as its README says, and upgrades it to the next version. Also creates a
// project that depends on the newest commit of this repository. Prints how long each step took.
//
// The Rust toolchain, and the settings and download caches of Cargo and npm, are those of this machine.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { run, serve } from "../tests/support/commands.mjs";
import { setVersion } from "./version.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const CRATES = ["schema", "", "gateway", "sign-in", "build", "worker"].map((name) => (name ? `toolbooth-${name}` : "toolbooth"));
const VERSION = JSON.parse(readFileSync(join(root, "packages/toolbooth/package.json"), "utf8")).version;
/** A version that is incompatible with every 0.x. */
const NEXT = "1.0.0";
/** The longest wait for a build while the server runs, in milliseconds. */
const DEADLINE = 120_000;

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-prove-"));
const [home, folder, generated] = ["home", "my-tools", "generated"].map((name) => join(scratch, name));
for (const path of [home, generated]) mkdirSync(path);
const env = {
  HOME: home,
  USER: "developer",
  XDG_CACHE_HOME: join(home, ".cache"),
  CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), ".cargo"),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup"),
  npm_config_userconfig: join(homedir(), ".npmrc"),
  npm_config_cache: join(homedir(), ".npm"),
  CARGO_TARGET_DIR: undefined,
  TOOLS: undefined,
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

const only = (folder, pattern) => {
  const name = readdirSync(folder).find((name) => pattern.test(name)) ?? assert.fail(`${pattern} in ${folder}`);
  return join(folder, name);
};

/** Packs the npm packages and the crates of a repository, as their registries would get them. Returns the folder. */
async function pack(repository, version) {
  const packed = join(scratch, `packed-${version}`);
  mkdirSync(packed);
  for (const name of ["toolbooth", "create-toolbooth"]) {
    await command(`npm pack --silent --pack-destination ${packed}`, join(repository, "packages", name), {});
  }
  const target = join(scratch, `target-${version}`);
  const selected = CRATES.map((name) => `--package ${name}`).join(" ");
  await command(`cargo package --quiet --no-verify --allow-dirty --target-dir ${target} ${selected}`, repository, {});
  for (const file of readdirSync(join(target, "package")).filter((name) => name.endsWith(".crate"))) {
    await command(`tar xzf ${join(target, "package", file)} -C ${packed}`, root, {});
  }
  return packed;
}

/** Edits a file of the project. */
function edit(name, change) {
  const path = join(folder, name);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

/** Makes the project use packed packages, as if they were in the registries. */
function use(packed) {
  edit("package.json", (text) => text.replace(/"toolbooth": "[^"]+"/, `"toolbooth": "file:${only(packed, /^toolbooth-[\d.]+\.tgz$/)}"`));
  const patches = CRATES.map((name) => `${name} = { path = "${only(packed, new RegExp(`^${name}-[\\d.]+$`))}" }\n`);
  edit("Cargo.toml", (text) => `${text.split("\n[patch.crates-io]")[0]}\n[patch.crates-io]\n${patches.join("")}`);
}

try {
  const packed = await step("pack the packages and the crates", () => pack(root, VERSION));
  await step("npm create toolbooth my-tools", () =>
    command(`npm exec --yes --package ${only(packed, /^create-toolbooth/)} -- create-toolbooth --no-install my-tools`, scratch),
  );
  await step("cargo generate, with the same result", async () => {
    const program = join(root, ".tools/bin/cargo-generate");
    await command(`${program} generate --path ${join(root, "template")} --name my-tools --define language=rust --vcs none --silent`, generated);
    await command(`diff -r ${folder} ${join(generated, "my-tools")}`, scratch);
    await command(`node ${join(root, "packages/create-toolbooth/bin/create.js")} --no-install --typescript ${join(scratch, "typed")}`, scratch);
    await command(`${program} generate --path ${join(root, "template")} --name typed --define language=typescript --vcs none --silent`, generated);
    await command(`diff -r ${join(scratch, "typed")} ${join(generated, "typed")}`, scratch);
  });
  await step("make project, with a git repository", async () => {
    const name = join(generated, "of-git");
    await command(`node ${join(root, "packages/create-toolbooth/bin/create.js")} --git file://${root} ${name}`, scratch);
    assert.doesNotMatch(await command("npx toolbooth doctor", name), /MISSING/);
  });
  use(packed);
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
      const { status, text } = await call(port, tool, { text: "Ada" });
      if (pattern.test(text)) return status;
      assert.match(text, meanwhile);
      assert.ok(performance.now() < end, `no ${pattern}: ${text}`);
    }
  };

  const { port, found, interrupt } = await step("npm run dev, from nothing to the first call", () =>
    serve((port) => `npm run dev -- --port ${port}`, /^curl .*$|Until the build succeeds/m, { cwd: folder, env }),
  );
  try {
    const [line] = found;
    assert.match(line, /^curl/, found.input);
    assert.match(await command(`${line} --silent --show-error`), /"value":"Hello, Ada!"/);
    const page = await fetch(`http://localhost:${port}/playground`);
    assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    await step("npx toolbooth tool, until it answers", async () => {
      await command("npx toolbooth tool Text.Shout");
      await until(port, "Text.Shout", /"value":"Ada"/, /There is no tool|not found|unknown/i);
    });
    const code = join(folder, "tools/text/mod.rs");
    const good = readFileSync(code, "utf8");
    for (const greeting of ["Hi", "Good morning", "Welcome"]) {
      await step("a save, until it answers", async () => {
        writeFileSync(code, good.replace("Ok(input.text)", `Ok(format!("${greeting}, {}!", input.text))`));
        await until(port, "Text.Shout", new RegExp(`"value":"${greeting}, Ada!"`), /"value"/);
      });
    }
    await step("npx toolbooth tool --ts, until it answers", async () => {
      await command("npx toolbooth tool Text.Echo --ts");
      await until(port, "Text.Echo", /"value":"Ada"/, /There is no tool|not found|unknown/i);
    });
    await step("a save of TypeScript, until it answers", async () => {
      edit("tools/text/echo.ts", (text) => text.replace("return text", "return `${text}?`"));
      await until(port, "Text.Echo", /"value":"Ada\?"/, /"value"/);
    });
    await step("a save with an error, until it is the response", async () => {
      writeFileSync(code, good.replace("input.text", "input.txet"));
      assert.equal(await until(port, "Text.Shout", /"error":"build_failed".*txet/s, /"value"/), 503);
    });
    await step("its correction, until it answers", async () => {
      writeFileSync(code, good);
      assert.equal(await until(port, "Text.Shout", /"value":"Ada"/, /build_failed/), 200);
    });
  } finally {
    await interrupt();
  }

  await command("npx toolbooth tool Text.Whisper --http --secret TEXT_KEY --scopes text:read,text:write");
  await step("npm test", () => command("npm test"));
  await step("npm run build", () => command("npm run build"));
  await step("npm run deploy -- --dry-run --env staging", async () => {
    const out = await command("npm run deploy -- --dry-run --env staging");
    console.log(/Total Upload.*/.exec(out)?.[0]);
  });
  const next = await step("pack the next version", async () => {
    const repository = join(scratch, "next");
    mkdirSync(repository);
    await command(`git ls-files -z | tar --null --files-from - --create | tar --extract --directory ${repository}`, root, {});
    // The command's package contains the site, which is built with this repository's packages.
    symlinkSync(join(root, "node_modules"), join(repository, "node_modules"));
    setVersion(repository, NEXT);
    return pack(repository, NEXT);
  });
  await step("upgrade, until the tests pass", async () => {
    edit("Cargo.toml", (text) => text.replaceAll(/^(toolbooth.*")[\d.]+"/gm, `$1${NEXT}"`));
    use(next);
    await command("npm install --no-fund --no-audit --loglevel=error");
    assert.match(await command("npx toolbooth doctor"), new RegExp(`^ok .*${NEXT}`, "m"));
    await command("npm test");
  });
  await step("npm run deploy -- --dry-run, after the upgrade", () => command("npm run deploy -- --dry-run"));

  console.log(`\n${times.map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${name}`).join("\n")}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
