// In a Worker, the end of the process is the end of the request that asks for it, without a response. For a tool it is a crash of its own:
// what other calls of the request have done is not lost.

/** What ends a process. Those that workerd lacks stay absent. */
for (const name of ["exit", "reallyExit", "abort", "kill"]) {
  const { process } = globalThis;
  if (typeof process?.[name] !== "function") continue;
  const value = (...args) => {
    const error = new Error(`process.${name}(${args.map(String).join(", ")}) was called: a tool cannot end the Worker`);
    Error.captureStackTrace(error, value);
    throw error;
  };
  Object.defineProperty(process, name, { value, configurable: true, writable: true });
}
