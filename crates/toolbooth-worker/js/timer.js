// A timer of the current request, which can be stopped.

export class Timer {
  #id;
  #resolve;

  /** Resolves after `milliseconds`, or when the timer is stopped: a promise that never settles would keep what waits for it in memory. */
  promise;

  constructor(milliseconds) {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
      this.#id = setTimeout(resolve, milliseconds);
    });
  }

  stop() {
    clearTimeout(this.#id);
    this.#resolve();
  }
}
