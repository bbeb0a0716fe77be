// Writes the folder of a server that is deployed without Rust: the built Worker with all shipped toolkits, its pages, and a program that
// deploys it. The release workflow puts it on the branch `deploy`.
//   node scripts/prebuilt.mjs build/prebuilt              builds a project with the toolkits, which takes minutes
//   node scripts/prebuilt.mjs build/prebuilt <bundle> <site>   takes a Worker and pages that were built
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const [given, bundle, site] = process.argv.slice(2);
if (!given) {
  console.error("Name the folder: node scripts/prebuilt.mjs build/prebuilt");
  process.exit(2);
}
const folder = resolve(given);
const built = bundle ? { bundle, site } : build();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of readdirSync(built.bundle).filter((name) => /\.(js|wasm)$/.test(name))) cpSync(join(built.bundle, file), join(folder, file));
cpSync(built.site, join(folder, "site"), { recursive: true });
cpSync(join(root, "release"), folder, { recursive: true });
cpSync(join(root, "packages/toolbooth/src/credentials.js"), join(folder, "credentials.js"));
cpSync(join(root, "LICENSE-MIT"), join(folder, "LICENSE-MIT"));
writeFileSync(join(folder, "wrangler.toml"), configuration());
writeFileSync(join(folder, "README.md"), readme());
console.log(`Wrote ${relative(".", folder)}`);

/** Builds a project from the template, with the shipped toolkits instead of a tool of its own. */
function build() {
  const project = join(root, "target/prebuilt/toolbooth-server");
  rmSync(project, { recursive: true, force: true });
  const run = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  run("packages/create-toolbooth/bin/create.js", "--clone", "--typescript", "--no-install", project);
  // What clients call the server. The crate may not be named like its dependency.
  const manifest = join(project, "Cargo.toml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/^title = .*/m, 'title = "Toolbooth"'));
  rmSync(join(project, "tools/greeter"), { recursive: true });
  const toolkits = readdirSync(join(root, "toolkits"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  writeFileSync(join(project, "tools/toolkits.json"), JSON.stringify(toolkits.map(({ name }) => name).sort()));
  run("packages/toolbooth/bin/toolbooth.js", "build", "--crate", project, "--out", join(project, "build"));
  return { bundle: join(project, "build"), site: join(project, "build/site") };
}

/** The template's configuration, without a build and without environments. */
function configuration() {
  const text = readFileSync(join(root, "template/wrangler.toml"), "utf8");
  const sections = text.split(/^(?=(?:#.*\n)*\[)/m).filter((section) => !/^\[+(?:build\]|env\.)/m.test(section));
  const changed = sections.join("").replaceAll("build/", "").replaceAll("{{project-name}}", "toolbooth").replace(/\n.*npm run deploy -- --env.*/g, "");
  return `${changed.trimEnd()}\n`;
}

/** The page, with the address of the repository and the button if that is known: GitHub's workflows have it in the environment. */
function readme() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  const text = readFileSync(join(root, "release/README.md"), "utf8");
  if (!repository) return text.replaceAll(/\[([^\]]+)\]\(\.\.[^)]*\)/g, "$1");
  const source = `${server}/${repository}`;
  const button = `[![Deploy to Cloudflare](https://deploy.workers.cloudflare.com/button)](https://deploy.workers.cloudflare.com/?url=${source}/tree/deploy)`;
  return text.replaceAll("(../", `(${source}/blob/HEAD/`).replace("\n\n", `\n\n${button}\n\n`);
}
