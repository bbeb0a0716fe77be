// What esbuild reports about a bundle, in terms of the files of a project.
import { dirname, join, resolve } from "node:path";
import * as esbuild from "esbuild";

/**
 * The text of errors or warnings. The module `generated`, which no author has written, imports the default exports of files: `example`
 * shows one. `advice` is a function that may know more about the text of a message.
 */
export async function messageOf(kind, messages, { generated, example, advice = () => undefined }) {
  const clearer = messages.map((message) => clear(message, { generated, example, advice }));
  return (await esbuild.formatMessages(clearer, { kind, color: process.stderr.isTTY })).join("").trim();
}

/** What is wrong with a file that has no default export. */
export const withoutDefault = (file, example) => `${file} has no default export: write ${example}`;

/** The files and folders that would make imports possible which failed: absolute paths. */
export function missing(errors) {
  return errors.flatMap(({ text, location }) => {
    const [, path] = /^Could not resolve "(.+)"$/.exec(text) ?? [];
    if (!path || !location) return [];
    const folder = dirname(resolve(location.file));
    // Without its ending, a name stands for several files: any new one in the folder may be it.
    if (path.startsWith(".")) return [resolve(folder, path), dirname(resolve(folder, path))];
    const [, name] = /^((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
    return parents(folder).map((parent) => join(parent, "node_modules", name));
  });
}

/** The files of a bundle that fails: esbuild does not say. `options` are those of its build. */
export async function loaded(options) {
  const files = [];
  const plugin = {
    name: "files",
    setup: (building) => building.onLoad({ filter: /^/ }, ({ path }) => void files.push(path)),
  };
  await esbuild.build({ ...options, write: false, plugins: [...options.plugins, plugin] }).catch(() => {});
  return files;
}

/** A folder and those that it is in. */
const parents = (folder) => (dirname(folder) === folder ? [folder] : [folder, ...parents(dirname(folder))]);

function clear(message, { generated, example, advice }) {
  const { text, location } = message;
  const [, file] = /^No matching export in "(.+)" for import "default"$/.exec(text) ?? [];
  if (file && generated && location?.file.endsWith(generated)) return { ...message, text: withoutDefault(file, example), location: null };
  const note = (text) => ({ ...message, notes: [{ text }] });
  const known = advice(text);
  if (known) return note(known);
  const [, name] = /^Could not resolve "((?:@[\w.-]+\/)?[A-Za-z0-9_][\w.-]*)(?:\/[^"]*)?"$/.exec(text) ?? [];
  // esbuild would leave it out of the bundle, and the Worker would not find it either.
  return name ? note(`If it is a package of npm, install it: npm install ${name}`) : message;
}
