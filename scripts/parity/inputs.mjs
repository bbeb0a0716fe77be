// Inputs of a tool with a mistake, made of valid ones. packages/toolbooth/src/import/samples.js makes those.
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Values that rarely fit where a different one does. */
const WRONG = [null, 12, -1, 0.5, 1e21, "", "nothing like this", "x".repeat(300), true, [], {}, [null], ["a", "a"], { unknown: 1 }];

/** Inputs with one mistake at most: a part is replaced, left out, or added. `random` returns a number below its argument. */
export function mutations(input, count, random) {
  return Array.from({ length: count }, () => {
    const changed = structuredClone(input);
    const places = [...placesOf(changed), { owner: changed, name: "unknown_member" }];
    const { owner, name } = places[random(places.length)];
    const kind = random(6);
    if (kind === 0 && isObject(owner)) delete owner[name];
    else if (kind === 1 && isObject(owner)) owner.unknown_member = 1;
    else if (kind === 2 && typeof owner[name] === "number") owner[name] = -owner[name] - 0.5;
    else if (kind === 3 && typeof owner[name] === "string") owner[name] = owner[name].slice(1);
    else owner[name] = structuredClone(WRONG[random(WRONG.length)]);
    return changed;
  });
}

function* placesOf(value) {
  for (const name of Object.keys(value)) {
    yield { owner: value, name };
    if (typeof value[name] === "object" && value[name] !== null) yield* placesOf(value[name]);
  }
}

/** Pseudo-random numbers, the same in each run (xorshift). */
export function randomOf(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
