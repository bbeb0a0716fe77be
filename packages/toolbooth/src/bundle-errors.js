// What esbuild reports about a bundle, in terms of the files of a project.
import * as esbuild from "esbuild";

/**
 * The text of errors or warnings. The module `generated`, which no author has written, imports the default exports of files: `example`
 * shows one.
 */
export async function messageOf(kind, messages, { generated, example }) {
  const clearer = messages.map((message) => clear(message, { generated, example }));
  return (await esbuild.formatMessages(clearer, { kind, color: process.stderr.isTTY })).join("").trim();
}

/** What is wrong with a file that has no default export. */
export const withoutDefault = (file, example) => `${file} has no default export: write ${example}`;

function clear(message, { generated, example }) {
  const { text, location } = message;
  const [, file] = /^No matching export in "(.+)" for import "default"$/.exec(text) ?? [];
  if (file && generated && location?.file.endsWith(generated)) return { ...message, text: withoutDefault(file, example), location: null };
  const [, name] = /^Could not resolve "((?:@[\w.-]+\/)?[A-Za-z0-9_][\w.-]*)(?:\/[^"]*)?"$/.exec(text) ?? [];
  // esbuild would leave it out of the bundle, and the Worker would not find it either.
  return name ? { ...message, notes: [{ text: `If it is a package of npm, install it: npm install ${name}` }] } : message;
}
