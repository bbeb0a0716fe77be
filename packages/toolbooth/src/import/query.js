// Paths with a query: fields that are always the same, and fields that are parameters.

/**
 * The query of a path, such as `?method=get&id={id}`: `fixed`, an object with the values of fields, and `variable`, one with the
 * names of parameters by field. Undefined if it is written in a different way.
 */
export function queryOf(path) {
  const at = path.indexOf("?");
  const [fixed, variable] = [new Map(), new Map()];
  for (const field of at === -1 ? [] : path.slice(at + 1).split("&").filter((one) => one !== "")) {
    const [, encodedName, value] = /^([^=]*)=?(.*)$/s.exec(field);
    const name = decoded(encodedName);
    const [, parameter] = /^\{([^{}]+)\}$/.exec(value) ?? [];
    if (name === "" || /[{}]/.test(name) || (parameter === undefined && /[{}]/.test(value)) || fixed.has(name) || variable.has(name)) return undefined;
    if (parameter === undefined) fixed.set(name, decoded(value));
    else variable.set(name, parameter);
  }
  return { fixed: Object.fromEntries(fixed), variable: Object.fromEntries(variable) };
}

/** The entries of parameters, in which those of a path's query are where it has them. */
export function withQuery(entries, { fixed, variable }) {
  const isFree = (entry) => entry.in !== "query" || !Object.hasOwn(fixed, entry.name);
  const result = entries.filter(isFree);
  for (const [field, name] of Object.entries(variable)) {
    const isQuery = (one, wanted) => one.in === "query" && one.name === wanted;
    if (result.some((one) => isQuery(one, field))) continue;
    const at = result.findIndex((one) => isQuery(one, name) || (one.in === "path" && one.name === name));
    const schema = { type: "string", description: `The field ${field} of the query.` };
    const entry = { required: true, schema, ...result[at], name: field, in: "query", style: "form", explode: true };
    if (at === -1) result.push(entry);
    else result[at] = entry;
  }
  return result;
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
