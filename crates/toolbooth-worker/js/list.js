// Lists keys of a KV namespace.

/** An array of the next page's cursor, undefined on the last page, and the keys of this page. */
export async function list(namespace, prefix, cursor) {
  const page = await namespace.list({ prefix, cursor });
  return [page.list_complete ? undefined : page.cursor, ...page.keys.map(({ name }) => name)];
}
