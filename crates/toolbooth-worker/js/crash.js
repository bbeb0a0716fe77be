// Whether the WebAssembly instance is beyond repair. worker-build's shim reads this object and
// starts a fresh instance; the names are its own.

const crash = (globalThis.__worker_init_state = { criticalError: false, instanceId: 0 });

export const state = () => crash;

export function started() {
  crash.instanceId += 1;
}

export function panicked(message) {
  console.error("Critical", new Error(`Rust panic: ${message}`));
  crash.criticalError = true;
}
