// A document with one operation: what a stand-in needs to answer its calls.

const isObject = (value) => typeof value === "object" && value !== null;
const partsOf = (reference) => reference.slice(2).split("/").map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));

/** The document with the operation `POST /pets` alone, and what it refers to. */
export function reduced(document, operation) {
  const [method, path] = operation.split(" ");
  const { paths, components } = document;
  const isKept = (name) => !name.startsWith("x-") && !["paths", "components", "definitions", "parameters", "responses", "webhooks", "tags"].includes(name);
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => isKept(name)));
  const { [method.toLowerCase()]: full, parameters, servers } = paths[path];
  // Errors of Stripe refer to all of the document, with which Prism does not start.
  const responses = Object.fromEntries(Object.entries(full.responses ?? {}).filter(([status]) => /^2/.test(status)));
  const item = { ...(parameters && { parameters }), ...(servers && { servers }), [method.toLowerCase()]: { ...full, responses } };
  const result = { ...rest, paths: { [path]: item } };
  // All schemes of security are kept: an operation names them without references.
  if (components?.securitySchemes) result.components = { securitySchemes: components.securitySchemes };
  const seen = new Set();
  const queue = [item];
  while (queue.length > 0) {
    const value = queue.pop();
    if (!isObject(value)) continue;
    if (typeof value.$ref === "string" && value.$ref.startsWith("#/") && !seen.has(value.$ref)) {
      seen.add(value.$ref);
      const parts = partsOf(value.$ref);
      const target = parts.reduce((at, part) => at?.[part], document);
      if (target !== undefined) {
        place(result, parts, target);
        queue.push(target);
      }
    }
    queue.push(...Object.values(value));
  }
  return result;
}

function place(result, parts, value) {
  const owner = parts.slice(0, -1).reduce((at, part) => (at[part] ??= {}), result);
  owner[parts.at(-1)] ??= value;
}
