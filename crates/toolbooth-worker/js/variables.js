// Reads the variables of the Worker: all in one call across the boundary.

/** The variables and secrets of the Worker, as a JSON object of texts. */
export function variables(env) {
  // Members without a text are not written.
  return JSON.stringify(Object.fromEntries(Object.keys(env).map((name) => [name, text(env, name)])));
}

/**
 * The text of a variable or secret; undefined for a binding. In wrangler.toml a variable can also be a number, a boolean, an
 * array or a table: the same as its JSON. Bindings are objects too, of classes of their own.
 */
function text(env, name) {
  // Some members may belong to a Worker around this one: one that cannot be read or written must not stop the others.
  try {
    const value = env[name];
    if (typeof value === "string") return value;
    const isPlain = Array.isArray(value) || (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);
    return isPlain || typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
