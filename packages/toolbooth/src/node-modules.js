// Modules of Node in the bundle of a Worker, as npm packages and functions import them.
import { builtinModules } from "node:module";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

const NAMES = builtinModules.filter((name) => !/^(?:_|node:)/.test(name));
/** What `node:process` exports, without what ends the Worker. */
const PROCESS = fileURLToPath(new URL("node-process.js", import.meta.url));
const REQUIRED = "required module of Node";

/**
 * A plugin for esbuild. workerd knows these modules by the prefix only, and has no `require`: CommonJS gets what an import gives, as from
 * wrangler. A package that the project has installed under such a name comes first. A `browser` field that turns a module off is for browsers.
 */
export const nodeModules = {
  name: "modules of Node",
  setup(building) {
    building.onResolve({ filter: new RegExp(`^(?:node:.+|${NAMES.join("|")})$`) }, async ({ path, pluginData, ...place }) => {
      if (pluginData === nodeModules) return;
      if (!path.startsWith("node:")) {
        const found = await building.resolve(path, { ...place, pluginData: nodeModules });
        // What is turned off has a path that leads nowhere.
        if (found.errors.length === 0 && isAbsolute(found.path)) return found;
      }
      const name = path.replace(/^node:/, "");
      if (place.kind === "require-call") return { path: `node:${name}`, namespace: REQUIRED };
      if (name === "process" && place.importer !== PROCESS) return { path: PROCESS };
      return { path: `node:${name}`, external: true };
    });
    // Its own import is resolved as above.
    building.onLoad({ filter: /^/, namespace: REQUIRED }, ({ path }) => ({ contents: `import found from "${path}";\nmodule.exports = found;` }));
  },
};
