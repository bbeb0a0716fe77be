// One copy of Preact in each view, also for packages that want React.
import { createRequire } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
/** Marks what this plugin itself looks for. */
const OWN = Symbol("view-preact");

/** The modules of React that Preact has, by other names. */
const REACT = {
  react: "preact/compat",
  "react/jsx-runtime": "preact/compat/jsx-runtime",
  "react/jsx-dev-runtime": "preact/compat/jsx-dev-runtime",
  "react/compiler-runtime": "preact/compat/compiler-runtime",
  "react-dom": "preact/compat",
  "react-dom/client": "preact/compat/client",
  "react-dom/test-utils": "preact/test-utils",
};

/** Why something of React is missing. */
export const NOT_REACT = "views have Preact in place of React (preact/compat)";
/** What renderers of React 18 and 19 read of React. */
const INTERNALS = /__CLIENT_INTERNALS_DO_NOT_USE|ReactCurrentBatchConfig/;

/**
 * A plugin for esbuild: Preact is the copy that comes with this package, whatever the project and its packages have installed. State and
 * hooks of one copy are unknown to another, so that the page would be blank.
 */
export const onlyPreact = {
  name: "view-preact",
  setup(building) {
    building.onResolve({ filter: /^(?:preact|react|react-dom|react-reconciler)(?:\/|$)/ }, async ({ path, pluginData }) => {
      if (pluginData === OWN) return;
      const wanted = path.startsWith("preact") ? path : REACT[path.replace(/\.js$|\/$/, "")];
      if (wanted === undefined) return { errors: [{ text: `${path} is not in views: ${NOT_REACT}, which has no such part` }] };
      // Always the ESM files: `require` could bring another copy.
      const { errors, path: file, sideEffects } = await building.resolve(wanted, { resolveDir: FOLDER, kind: "import-statement", pluginData: OWN });
      return errors.length > 0 ? { errors: [{ text: `${path} is not in views: the build brings the Preact of all of them, which has no such part` }] } : { path: file, sideEffects };
    });
  },
};

/** The files in a bundle of another Preact, or of React: packages can name them in ways that no plugin sees, such as `imports` of package.json. */
export function otherCopies(inputs) {
  const own = dirname(createRequire(import.meta.url).resolve("preact/package.json")) + sep;
  return inputs.filter((path) => /(?:^|\/)node_modules\/(?:preact|react|react-dom)\/.*\.[cm]?js$/.test(path) && !resolve(path).startsWith(own));
}

/** Whether a script has parts of a package that needs React itself. */
export const needsReact = (script) => INTERNALS.test(script);
