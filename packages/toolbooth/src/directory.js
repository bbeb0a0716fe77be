// What directories of MCP servers ask of tools, beyond what the build requires.

/** The words that begin the names of actions which only read, and of those which change something. */
const READS = /^(get|list|read|search|find|fetch|show|view|query|lookup)/i;
const WRITES = /^(create|add|update|set|edit|delete|remove|send|post|put|patch|write|insert|move|cancel)/i;
/** How many characters of a description the directories show. */
const SHORT = 20;

/** A sentence for each tool and what a directory would object to. Only the latest version of a tool is listed. */
export function remarks(definitions) {
  const latest = new Map(definitions.toSorted(byVersion).map((definition) => [definition.id.split("@")[0], definition]));
  return [...latest.values()].flatMap((definition) => {
    const { id, title, description = "", annotations = {}, input_schema: input = {} } = definition;
    const rows = [
      [title !== undefined, "has no title, which people read when they allow a tool"],
      [["read_only", "destructive"].every((name) => name in annotations), "does not say in annotations whether it is read_only and destructive, so clients ask before every call"],
      [!(annotations.read_only && annotations.destructive), "is read_only and destructive: a tool that changes nothing cannot destroy anything"],
      [[...description.trim()].length >= SHORT, `has a description of fewer than ${SHORT} characters`],
      [!mixes(input), "reads and writes, by the value of a parameter: make a tool of each, so that people can allow one without the other"],
    ];
    return rows.filter(([isRight]) => !isRight).map(([, objection]) => `${id}: ${objection}`);
  });
}

/** Whether a parameter selects between actions that read and actions that write. */
function mixes({ properties = {} }) {
  return Object.values(properties).some((schema) => {
    const values = (schema?.enum ?? []).filter((value) => typeof value === "string");
    return values.some((value) => READS.test(value)) && values.some((value) => WRITES.test(value));
  });
}

const byVersion = ({ version: one = "" }, { version: other = "" }) => one.localeCompare(other, "en", { numeric: true });
