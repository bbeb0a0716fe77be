// Counts calls against a Workers rate limit, which counts one unit at a time.

/** Whether `units` more calls of `key` are within the limit. Stops counting at the first that is not. */
export async function take(binding, key, units) {
  for (let unit = 0; unit < units; unit += 1) {
    const { success } = await binding.limit({ key });
    if (!success) return false;
  }
  return true;
}
