// Where the dependencies of a new project come from, if not from a release: a clone of Toolbooth, or a git repository.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** The clone in the folder `clone`. Projects share its programs and the dependencies that it has compiled. */
export function fromClone(clone) {
  return {
    use(folder) {
      const path = (name) => relative(folder, join(clone, name)).split(sep).join("/");
      crates(folder, (name) => `path = ${JSON.stringify(path(`crates/${name}`))}`);
      // Through links, npm finds no programs of dependencies, and the type checker no types of Preact, which views are made of.
      const links = { node: "node_modules/node", toolbooth: "packages/toolbooth", wrangler: "node_modules/wrangler", preact: "node_modules/preact" };
      if (usesVitest(folder)) Object.assign(links, { vite: "node_modules/vite", vitest: "node_modules/vitest" });
      npm(folder, Object.fromEntries(Object.entries(links).map(([name, at]) => [name, `file:${path(at)}`])));
      mkdirSync(join(folder, ".cargo"));
      const config = "# Shares the dependencies that the clone of Toolbooth has compiled.\n[build]\n";
      writeFileSync(join(folder, ".cargo/config.toml"), `${config}build-dir = ${JSON.stringify(path("target"))}\n`);
      document(folder, `[${path("docs")}](${path("docs")}): [TUTORIAL.md](${path("docs/TUTORIAL.md")}) and [TOOLS.md](${path("docs/TOOLS.md")}) first`);
      // Another machine has no such clone.
      rmSync(join(folder, ".github"), { recursive: true });
    },
  };
}

/** The newest commit of a git repository. Cargo and npm get the same one. */
export function fromGit(url) {
  // It would be written into files of the project. The message does not repeat it.
  if (/^[a-z+]+:\/\/[^/?#]*:[^/?#]*@/i.test(url)) {
    throw new Error("GIT must have no password: let git's credential helper store it, or use an address such as ssh://git@host/owner/toolbooth.git");
  }
  // Cargo and npm know no other form of an address.
  if (!/^(?:https|ssh|file):\/\/./.test(url)) {
    throw new Error(`GIT must be a URL, such as https://host/owner/toolbooth.git or ssh://git@host/owner/toolbooth.git, not ${url}`);
  }
  const { status, stdout, stderr, error } = spawnSync("git", ["ls-remote", "--", url, "HEAD"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`git cannot read ${url}: ${(error?.message ?? stderr).trim()}`);
  const [commit] = stdout.split("\t");
  if (!commit) throw new Error(`The repository ${url} has no commits`);
  return {
    use(folder) {
      crates(folder, () => `git = ${JSON.stringify(url)}, rev = "${commit}"`);
      npm(folder, { toolbooth: `git+${url}#${commit}` });
      document(folder, `the folder docs of ${url}: TUTORIAL.md and TOOLS.md first`);
    },
  };
}

/** Replaces the versions of Toolbooth's crates. */
function crates(folder, sourceOf) {
  const file = join(folder, "Cargo.toml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/^(toolbooth[\w-]*)( = \{ )version = "[^"]+"/gm, (_, name, between) => `${name}${between}${sourceOf(name)}`));
}

/** Says to people and agents where Toolbooth's documentation is. */
function document(folder, where) {
  for (const name of ["README.md", "AGENTS.md"]) appendFileSync(join(folder, name), `\nToolbooth's documentation is in ${where}.\n`);
}

const read = (file) => JSON.parse(readFileSync(file, "utf8"));

/** Whether the project tests TypeScript. */
const usesVitest = (folder) => "vitest" in read(join(folder, "package.json")).devDependencies;

/** Replaces npm packages, or adds them. */
function npm(folder, packages) {
  const file = join(folder, "package.json");
  const manifest = read(file);
  const devDependencies = { ...manifest.devDependencies, ...packages };
  writeFileSync(file, `${JSON.stringify({ ...manifest, devDependencies }, null, 2)}\n`);
}
