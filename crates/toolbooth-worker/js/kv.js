// The operations of a KV namespace. What is bound in its place may lack a method or reject a key at once: an async function makes a
// rejection of that, where an exception would pass through WebAssembly and count as a crash.

export const get = async (namespace, key) => namespace.get(key);

/** `life` is in seconds. */
export const put = async (namespace, key, value, life) => namespace.put(key, value, { expirationTtl: life });

export const remove = async (namespace, key) => namespace.delete(key);

/** An array of the next page's cursor, undefined on the last page, and the keys of this page. */
export async function list(namespace, prefix, cursor) {
  const page = await namespace.list({ prefix, cursor });
  return [page.list_complete ? undefined : page.cursor, ...page.keys.map(({ name }) => name)];
}
