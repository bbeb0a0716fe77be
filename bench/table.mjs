/** A table in Markdown; all columns but the first are figures. */
export function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
