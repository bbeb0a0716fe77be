// Reads files that are deployed with the Worker.

/** The text of a static asset. Throws if there is none. */
export async function file(env, path) {
  if (env.ASSETS === undefined) throw new Error("the binding ASSETS is missing");
  // The binding ignores the host.
  const response = await env.ASSETS.fetch(new URL(path, "https://assets.invalid"));
  if (response.status !== 200) throw new Error(`the file ${path} is missing: status ${response.status}`);
  return response.text();
}
