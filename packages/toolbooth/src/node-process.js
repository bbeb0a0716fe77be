// What `node:process` exports, except that nothing of it ends the Worker: the server has replaced such functions of the global object.
import process from "node:process";

export * from "node:process";
export const exit = (...args) => globalThis.process.exit(...args);
export const abort = (...args) => globalThis.process.abort(...args);
export const reallyExit = (...args) => globalThis.process.reallyExit(...args);
export const kill = (...args) => globalThis.process.kill(...args);
export default process;
