// The visitor's credential: an API key, or the token of a sign-in. It is kept for this tab, so that the other pages have it too,
// and is in no URL, cookie or log. docs/SECURITY.md has the reasons.

/** Who has signed in. */
export interface Person {
  name: string;
  /** What they have allowed this page. */
  scopes: string[];
  /** What they can allow it. */
  available: string[];
  /** The id of the client whose token it is. */
  client: string;
}

export interface Credential {
  secret: string;
  /** Absent if the secret is a key, and not the token of a sign-in. */
  person?: Person;
}

/** What the server has said about the credential. */
export type Verdict = "unchecked" | "accepted" | "rejected";

type Change = "credential" | "verdict";

/** Where the tab keeps it. */
const ITEM = "credential";

let current = stored();
let verdict: Verdict = "unchecked";
let changes = 0;
const listeners = new Set<(change: Change) => void>();

function stored(): Credential | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(ITEM) ?? "null") as Credential | null) ?? undefined;
  } catch {
    // The browser denies the page its storage.
    return undefined;
  }
}

function store() {
  try {
    if (current === undefined) sessionStorage.removeItem(ITEM);
    else sessionStorage.setItem(ITEM, JSON.stringify(current));
  } catch {
    // Then it stays in memory, and the next page asks again.
  }
}

const changed = (change: Change) => {
  for (const listener of listeners) listener(change);
};

export const credential = (): Credential | undefined => current;

/** Whether the server has accepted the credential since it was set, or since the page was loaded. */
export const verdictOf = (): Verdict => verdict;

/** How often the credential has been set: another number means another one. */
export const credentialChanges = (): number => changes;

export function setCredential(value: Credential | undefined): void {
  current = value;
  verdict = "unchecked";
  changes += 1;
  store();
  changed("credential");
}

/** Records what the server has said about a credential, unless it has been replaced since. */
export function judge(used: Credential, said: Verdict): void {
  if (used !== current || said === verdict) return;
  verdict = said;
  changed("verdict");
}

/** Calls `listener` when the credential has changed, or the verdict about it. Returns a function that ends this. */
export function onCredential(listener: (change: Change) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Removes the credential from the storage of a window that this page has opened. */
export function forget(opened: Window): void {
  try {
    opened.sessionStorage.removeItem(ITEM);
  } catch {
    // The browser denies the page its storage, so there is no copy.
  }
}

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Whether the server runs on the visitor's own machine. */
export const isLocal = (): boolean => LOCAL_HOSTS.includes(location.hostname);

/**
 * Takes a key out of the address, as in `#key=development-key`, which `make dev` prints. Only on this machine: elsewhere, the
 * sender of a link could make visitors use the sender's key. It does not replace a sign-in either.
 */
export function takeKey(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (isLocal() && key !== "" && !current?.person) setCredential({ secret: key });
}
