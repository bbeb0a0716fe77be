// Counts against a rate limit of Workers, which takes one unit at a time.

/** Whether `units` more of `key` are within the limit; the first that is not ends the count. */
export async function take(binding, key, units) {
  for (let unit = 0; unit < units; unit += 1) {
    const { success } = await binding.limit({ key });
    if (!success) return false;
  }
  return true;
}
