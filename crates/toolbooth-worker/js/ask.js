// Asks an object of the ledger (ledger.js).

/** The number of objects that claims are spread over. */
const CLAIMS = 16;

/**
 * Runs an operation of the ledger in the object that it belongs to, and returns the result as JSON; `argument` is JSON, too.
 * The object may just have moved or been replaced: then it is asked once more.
 */
export async function ask(namespace, operation, argument) {
  const value = JSON.parse(argument);
  const id = namespace.idFromName(objectOf(operation, value));
  const run = async () => JSON.stringify((await namespace.get(id)[operation](value)) ?? null);
  try {
    return await run();
  } catch (error) {
    if (!error.retryable || error.overloaded) throw error;
    return run();
  }
}

function objectOf(operation, { account, key }) {
  if (operation === "accounts") return "accounts";
  if (operation !== "claim") return `account:${account}`;
  let hash = 0;
  for (let at = 0; at < key.length; at += 1) hash = (hash * 31 + key.charCodeAt(at)) >>> 0;
  return `claims:${hash % CLAIMS}`;
}
