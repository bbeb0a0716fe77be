// Reads a Worker's memory through the inspector of workerd.

/** Connects to the inspector at `port`; `memory()` returns the size of the Worker's WebAssembly memory in
 *  bytes. It can only grow. */
export async function inspect(port, name) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${name}`);
  const waiting = new Map();
  const context = Promise.withResolvers();
  socket.addEventListener("message", ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(data);
    if (method === "Runtime.executionContextCreated") context.resolve(params.context.id);
    if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("the inspector does not respond")));
  });
  const ask = (method, params) => {
    const id = waiting.size + 1;
    waiting.set(id, Promise.withResolvers());
    socket.send(JSON.stringify({ id, method, params }));
    return waiting.get(id).promise;
  };
  await ask("Runtime.enable");
  const contextId = await context.promise;
  const prototype = await ask("Runtime.evaluate", { expression: "WebAssembly.Memory.prototype", contextId });
  return {
    async memory() {
      const { objects } = await ask("Runtime.queryObjects", { prototypeObjectId: prototype.result.objectId });
      const { result } = await ask("Runtime.callFunctionOn", {
        objectId: objects.objectId,
        functionDeclaration: "function () { return this.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) }",
        returnByValue: true,
      });
      return result.value;
    },
    close: () => socket.close(),
  };
}
