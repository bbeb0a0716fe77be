// Runs functions in TypeScript on workerd with the server's own JavaScript, but without its WebAssembly: no Rust is compiled.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "../../packages/toolbooth/src/build.js";
import { startLocally } from "../../packages/toolbooth/src/local.js";
import { withSources } from "../../packages/toolbooth/src/stacks.js";
import { root } from "./commands.mjs";
import { deployed } from "./worker.mjs";

/** Stands in for the WebAssembly: calls the function that the path names, as crates/toolbooth-worker/src/external.rs does. */
const ENTRY = `const { Response, URL } = globalThis;
export default {
  async fetch(request, env) {
    const name = new URL(request.url).pathname.slice(1);
    const given = JSON.stringify({ tool: name });
    return new Response(await globalThis.__toolbooth_tools.call(name, await request.text(), given, Number(request.headers.get("limit") ?? 30000), env));
  },
};
`;

/**
 * Bundles and starts functions in the folder `scratch`: `files` are texts by path. A file in `tools/<toolkit>` that ends in `.ts` is a
 * function. Returns `call`, which returns the report of a run, `log` and `close`.
 */
export async function start(scratch, files, vars = { DEVELOPMENT: "true" }) {
  const write = (path, text) => {
    mkdirSync(dirname(join(scratch, path)), { recursive: true });
    writeFileSync(join(scratch, path), text);
  };
  write("js/entry.js", ENTRY);
  write("js/tools.js", `export * from ${JSON.stringify(join(root, "crates/toolbooth-worker/js/tools.js"))};\n`);
  const { compatibilityDate, compatibilityFlags } = deployed;
  write("wrangler.toml", `name = "functions"\ncompatibility_date = "${compatibilityDate}"\ncompatibility_flags = ${JSON.stringify(compatibilityFlags)}\n`);
  for (const [path, text] of Object.entries(files)) {
    write(path, text);
    // Its definition: only the name counts here.
    if (/^tools\/\w+\/\w+\.ts$/.test(path)) write(path.replace(/(\w)(\w*)\.ts$/, (_, first, rest) => `${first.toUpperCase()}${rest}@1.0.0.json`), "{}");
  }
  const out = join(scratch, "out");
  const { outputFiles } = await bundle(scratch, join(scratch, "js/entry.js"), scratch, { write: false, outfile: join(out, "worker.js"), sourcemap: "linked", sourcesContent: false });
  mkdirSync(out, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  const { harness } = await startLocally(out, { config: join(scratch, "wrangler.toml"), vars });
  let read = 0;
  return {
    async call(name, input = {}, headers = {}) {
      const response = await harness.fetch(`/${name}`, { method: "POST", headers, body: JSON.stringify(input) });
      const text = await response.text();
      return response.status === 200 ? JSON.parse(text) : { status: response.status, text };
    },
    /** The lines of the log since the last time. */
    log() {
      const lines = harness.getLogs().slice(read);
      read += lines.length;
      return lines.map(({ message }) => withSources(message)).join("\n");
    },
    close: () => harness.close(),
  };
}
