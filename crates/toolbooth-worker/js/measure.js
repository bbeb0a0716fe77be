// Writes a data point to Workers Analytics Engine.

/** `blobs` are lines. `doubles` is a view of WebAssembly memory. */
export function measure(binding, index, blobs, doubles) {
  try {
    binding.writeDataPoint({ indexes: [index], blobs: blobs.split("\n"), doubles: [...doubles] });
  } catch (error) {
    // An exception would pass through WebAssembly and leave it in an undefined state.
    console.error(JSON.stringify({ event: "metrics", problem: error.message }));
  }
}
