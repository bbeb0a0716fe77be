// Asks the objects of tasks (tasks.js).
import { ask } from "./ask.js";

/** Runs an operation in the object of a task. Returns the task as JSON, or null. */
export async function task(namespace, name, text) {
  const { do: operation, ...given } = JSON.parse(text);
  if (operation !== "create") return JSON.stringify(await ask(namespace, name, (object) => object[operation](given)));
  try {
    return JSON.stringify(await ask(namespace, name, (object) => object.create({ name, ...given })));
  } catch (error) {
    // It may have been stored; then it is not counted, and no client knows its id.
    await ask(namespace, given.owner, (object) => object.release({ name })).catch(() => {});
    throw error;
  }
}
