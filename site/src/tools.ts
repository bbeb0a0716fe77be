// The list of tools: toolkits, names and versions.
import type { Tool } from "./server.ts";

export const toolkitOf = (id: string): string => id.split(".")[0] ?? id;
export const nameOf = (id: string): string => withoutVersion(id).split(".").slice(1).join(".");

const withoutVersion = (id: string): string => id.split("@")[0] ?? id;
const { compare } = new Intl.Collator("en", { numeric: true });

/** The newest version of each tool first, older ones after it. */
export function grouped(tools: Tool[]): Map<string, Tool[]> {
  const groups = Map.groupBy(tools, ({ id }) => toolkitOf(id));
  for (const group of groups.values()) {
    group.sort((one, other) => nameOf(one.id).localeCompare(nameOf(other.id)) || compare(other.version, one.version));
  }
  return groups;
}

// Every render asks for each tool, and lists can be long.
const newest = new WeakMap<Tool[], Map<string, string>>();

/** Whether the list has a newer version of the tool. */
export function isOld(tool: Tool, tools: Tool[]): boolean {
  let versions = newest.get(tools);
  if (versions === undefined) {
    versions = new Map();
    for (const { id, version } of tools) {
      const known = versions.get(withoutVersion(id));
      if (known === undefined || compare(version, known) > 0) versions.set(withoutVersion(id), version);
    }
    newest.set(tools, versions);
  }
  return compare(versions.get(withoutVersion(tool.id)) ?? tool.version, tool.version) > 0;
}

/** The versions of a tool in the list, the newest first. */
export const versionsOf = (tool: Tool, tools: Tool[]): Tool[] =>
  tools.filter(({ id }) => withoutVersion(id) === withoutVersion(tool.id)).sort((one, other) => compare(other.version, one.version));

/** The newest version of each tool. */
export const newestOf = (tools: Tool[]): Tool[] => tools.filter((tool) => !isOld(tool, tools));

/** Whether two ids are of versions of the same tool. */
export const isSameTool = (one: string, other: string): boolean => withoutVersion(one) === withoutVersion(other);

/** The tool with this id; without such a version, the newest of the tool. Without an id, the first tool. */
export function toolOf(tools: Tool[], id: string): Tool | undefined {
  const newest = (tool: Tool) => withoutVersion(tool.id) === withoutVersion(id) && !isOld(tool, tools);
  return id === "" ? tools[0] : (tools.find((tool) => tool.id === id) ?? tools.find(newest));
}

/** The tool that the fragment of an address names, such as `#Calculator.Add@1.0.0`. */
export function idIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return "";
  }
}
