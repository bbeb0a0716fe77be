// Whether the WebAssembly instance is beyond repair. worker-build's shim reads this object and
// starts a fresh instance; the names of the global and of the two values are its own.

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
