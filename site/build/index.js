// Builds the site: pages, scripts and styles, as static assets of the Worker.
//   node site/build/index.js [folder]
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { htmlOf, pagesOf, searchIndexOf } from "./docs.js";
import { doctor, landing, notFound, playground, signedIn, usage, view } from "./pages.js";

const site = fileURLToPath(new URL("..", import.meta.url));
const root = join(site, "..");

const ICON_FILE = "icon.svg";

/** A rule for each file: one for all of them would also apply to responses about missing files. */
const headers = (files) => files.map((file) => `/site/${file}
  Cache-Control: public, max-age=${file === ICON_FILE ? "86400" : /* The name contains a hash of the contents. */ "31536000, immutable"}
  X-Content-Type-Options: nosniff
  Cross-Origin-Resource-Policy: same-origin
`).join("");
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>g{stroke:#1c1e21}@media(prefers-color-scheme:dark){g{stroke:#e8eaed}}</style><g fill="none" stroke-width="2" stroke-linecap="round"><path d="M5 21V5.5A1.5 1.5 0 0 1 6.5 4a1.5 1.5 0 0 1 1.5 1.5V21M3 21h18"/></g><path d="M8 8.5 21 5" stroke="#3b7ae0" stroke-width="3" stroke-linecap="round"/></svg>`;

/** Builds the site into the folder `out`. Other files there stay. */
export async function buildSite(target) {
  // esbuild would resolve it relative to the sources.
  const out = resolve(target);
  if (join(out, "site", "build") === dirname(fileURLToPath(import.meta.url))) throw new Error(`${out}/site has the sources of the site: name a different folder`);
  // The names in this folder change with its contents.
  rmSync(join(out, "site"), { recursive: true, force: true });
  const { metafile } = await esbuild.build({
    absWorkingDir: site,
    entryPoints: { landing: "src/landing.tsx", playground: "src/playground/playground.tsx", docs: "src/docs.tsx", doctor: "src/doctor.tsx", usage: "src/usage.tsx", "signed-in": "src/signed-in.ts", style: "style/site.css" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: ["es2024"],
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
    outdir: join(out, "site"),
    metafile: true,
    logLevel: "warning",
  });
  const outputs = Object.entries(metafile.outputs);
  const address = (entry) => {
    const [path] = outputs.find(([, { entryPoint }]) => entryPoint === entry);
    return `/site/${basename(path)}`;
  };
  const style = address("style/site.css");
  const write = (path, text) => {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  };
  const folder = join(root, "docs");
  const pages = pagesOf(folder);
  const index = JSON.stringify(searchIndexOf(pages));
  const searchIndex = `/site/search-${createHash("sha256").update(index).digest("hex").slice(0, 8)}.json`;
  write(searchIndex, index);
  for (const [path, html] of htmlOf(pages, { style, script: address("src/docs.tsx"), searchIndex })) write(`${path}.html`, html);
  write("index.html", landing(join(folder, "CLIENTS.md"), { style, script: address("src/landing.tsx") }));
  write("playground.html", playground({ style, script: address("src/playground/playground.tsx") }));
  write("playground/view.html", view());
  write("doctor.html", doctor(join(folder, "GATEWAY.md"), { style, script: address("src/doctor.tsx") }));
  write("usage.html", usage({ style, script: address("src/usage.tsx") }));
  write("signed-in.html", signedIn({ style, script: address("src/signed-in.ts") }));
  write("not-found.html", notFound({ style }));
  write(`site/${ICON_FILE}`, ICON);
  write("_headers", headers(readdirSync(join(out, "site")).sort()));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSite(process.argv[2] ?? join(root, "build/site"));
