// A reporter that says at the end of a run why a whole file has failed: errors after the end of a test, which have no test's name,
// and what the file printed to stderr. The other reporter prints these where they came, among thousands of lines.
import { relative, resolve } from "node:path";

export default async function* late(events) {
  const said = new Map();
  const failed = [];
  for await (const { type, data } of events) {
    if (type === "test:stderr" || (type === "test:diagnostic" && data.message.startsWith("Error: "))) {
      const file = resolve(data.file);
      said.set(file, [...(said.get(file) ?? []), data.message.trimEnd()]);
    }
    if (type === "test:fail" && "exitCode" in data.details.error) failed.push(data);
  }
  for (const { file, details } of failed) {
    const { exitCode, signal } = details.error;
    yield `\n✖ ${relative(".", file)} ended with ${signal ?? exitCode}:\n\n${said.get(resolve(file))?.join("\n") ?? "it printed nothing to stderr"}\n`;
  }
}
