// Imports of modules of Node without the prefix `node:`, as many npm packages write them.
import { builtinModules } from "node:module";

const NAMES = builtinModules.filter((name) => !/^(?:_|node:)/.test(name));

/** A plugin for esbuild: workerd knows these modules by the prefix only. A package that the project has installed under such a name comes first. */
export const nodeModules = {
  name: "modules of Node",
  setup(building) {
    building.onResolve({ filter: new RegExp(`^(?:${NAMES.join("|")})$`) }, async ({ path, pluginData, ...place }) => {
      if (pluginData === nodeModules) return;
      const found = await building.resolve(path, { ...place, pluginData: nodeModules });
      return found.errors.length === 0 ? found : { path: `node:${path}`, external: true };
    });
  },
};
