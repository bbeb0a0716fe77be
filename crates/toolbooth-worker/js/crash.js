// Records whether the WebAssembly instance has crashed. The `worker` crate has the same object for Workers that link it, and
// chose the names.

export const crash = {
  criticalError: false,

  panicked(message) {
    console.error("Critical", new Error(`Rust panic: ${message}`));
    this.criticalError = true;
  },
};
globalThis.__worker_init_state = crash;
