// Asks the objects of tasks (tasks.js).
import { ask } from "./ask.js";

/** Runs an operation in the object of a task. Returns the task as JSON, or null. */
export async function task(namespace, name, text) {
  const { do: operation, ...given } = JSON.parse(text);
  if (operation === "create") {
    const { owner, most, ...task } = given;
    const expires = Date.now() + task.life_ms;
    if (!(await ask(namespace, owner, (object) => object.admit({ name, most, expires })))) return "null";
    try {
      return JSON.stringify(await ask(namespace, name, (object) => object.create({ owner, name, ...task })));
    } catch (error) {
      // It may have been stored; then it is not counted, and no client knows its id.
      await ask(namespace, owner, (object) => object.release({ name })).catch(() => {});
      throw error;
    }
  }
  return JSON.stringify(await ask(namespace, name, (object) => object[operation](given)));
}
