// Records whether the WebAssembly instance has crashed. worker-build's shim reads this object and
// starts a new instance; it defines the names of the global and of the two values.

export const crash = {
  criticalError: false,
  instanceId: 0,

  started() {
    this.instanceId += 1;
  },

  panicked(message) {
    console.error("Critical", new Error(`Rust panic: ${message}`));
    this.criticalError = true;
  },
};
globalThis.__worker_init_state = crash;
