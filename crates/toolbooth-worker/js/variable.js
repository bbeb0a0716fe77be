// Reads a variable of the Worker: a function, so that each is one call across the boundary.

/**
 * The text of a variable or secret; undefined if there is none. In wrangler.toml it can also be a number, a boolean, an
 * array or a table: the same as its JSON. Bindings are objects too, of classes of their own.
 */
export function variable(env, name) {
  const value = env[name];
  if (value === undefined || typeof value === "string") return value;
  const isPlain = Array.isArray(value) || (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);
  return isPlain || typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}
