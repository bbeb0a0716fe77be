// The visitor's key, or the sign-in.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Credential, type Person, type Verdict, credential, credentialChanges, onCredential, setCredential, verdictOf } from "./credential.ts";
import { type SignIn, authorize, revoke, signIn } from "./sign-in.ts";

/** A value that depends on the credential, or on the verdict about it. */
function useCurrent<Value>(read: () => Value): Value {
  const [value, setValue] = useState(read);
  useEffect(() => {
    // It may have changed since the first view.
    setValue(read);
    return onCredential(() => setValue(read));
  }, []);
  return value;
}

/** The visitor's credential, if there is one. */
export const useCredential = (): Credential | undefined => useCurrent(credential);

/** The scopes that a person can still allow this page. Without a sign-in there are none. */
export function useMissingScopes(): string[] {
  const person = useCredential()?.person;
  return person ? person.available.filter((scope) => !person.scopes.includes(scope)) : [];
}

/** A number that changes with the credential. */
export const useCredentialChanges = (): number => useCurrent(credentialChanges);

let openDialog = () => {};

/** The part of the page's header that says who the visitor is. */
export function Credentials() {
  const used = useCredential();
  const verdict = useCurrent(verdictOf);
  const dialog = useRef<HTMLDialogElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState(false);
  openDialog = () => {
    setOpened(true);
    dialog.current?.showModal();
  };
  const finish = () => {
    dialog.current?.close();
    // The dialog may have been opened by a part of the page that the key replaces.
    place.current?.querySelector<HTMLElement>("button")?.focus();
  };
  return (
    <div class="credentials" ref={place}>
      {used?.person ? <Account used={used} person={used.person} verdict={verdict} /> : acceptsKeys ? <KeyButton used={used} verdict={verdict} /> : <SignInButton />}
      <dialog ref={dialog} aria-labelledby="key-title" onClose={() => setOpened(false)}>
        <KeyForm opened={opened} cancel={() => dialog.current?.close()} finish={finish} />
      </dialog>
    </div>
  );
}

/** The page of the server where people see and take back what they have allowed. */
const ACCOUNT = "/account";

/** Makes that page lead back to this one, in its present state. */
function leadBack({ currentTarget }: preact.TargetedMouseEvent<HTMLAnchorElement>) {
  currentTarget.href = `${ACCOUNT}?${new URLSearchParams({ from: location.pathname + location.hash })}`;
}

const KEY_TEXTS: Record<Verdict, string> = { unchecked: "Key not checked", accepted: "Key set", rejected: "Key rejected" };

/** Whether AUTH accepts keys or tokens that a visitor could enter. Otherwise they can only sign in. */
const acceptsKeys = (document.documentElement.dataset["ways"] ?? "").split(" ").includes("key");

/** Whether the visitor has signed out on this page. Their session with the server goes on. */
let hasSignedOut = false;

function KeyButton({ used, verdict }: { used: Credential | undefined; verdict: Verdict }) {
  return (
    <button type="button" class="secondary key-button" onClick={() => openDialog()}>
      <span class={`dot ${verdict}`} aria-hidden="true" />
      {used ? KEY_TEXTS[verdict] : "Set key"}
    </button>
  );
}

/** Who has signed in, and how they sign out. */
function Account({ used, person, verdict }: { used: Credential; person: Person; verdict: Verdict }) {
  const signOut = () => {
    hasSignedOut = true;
    setCredential(undefined);
    void findSignIn().then((server) => server && revoke(server, used));
  };
  return (
    <>
      <a class="person" href={ACCOUNT} onClick={leadBack} aria-label={`${person.name}: your account`}>
        <span class={`dot ${verdict}`} aria-hidden="true" />
        <bdi>{person.name}</bdi>
      </a>
      <button type="button" class="secondary" onClick={signOut}>Sign out</button>
    </>
  );
}

function KeyForm({ opened, cancel, finish }: { opened: boolean; cancel(): void; finish(): void }) {
  const used = useCredential();
  const hasKey = used !== undefined && used.person === undefined;
  const input = useRef<HTMLInputElement>(null);
  const take = (secret: string) => {
    setCredential(secret === "" ? undefined : { secret });
    // The field would keep it, and browsers restore fields.
    if (input.current) input.current.value = "";
    finish();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const secret = input.current?.value.trim();
    if (secret) take(secret);
  };
  return (
    <form method="dialog" class="key-form" autocomplete="off" onSubmit={onSubmit}>
      <h2 id="key-title">API key or token</h2>
      <p>This tab keeps it until you close it. Only a duplicate of the tab has it too.</p>
      {opened && !hasKey && <SignInButton done={finish} />}
      {opened && <AccountLink />}
      <label for="key">Key</label>
      <input id="key" ref={input} type="password" autocomplete="off" spellcheck={false} />
      <div class="row end">
        {hasKey && (
          <button type="button" class="plain" onClick={() => take("")}>
            Forget key
          </button>
        )}
        <button type="button" class="secondary" onClick={cancel}>
          Cancel
        </button>
        <button type="submit">Use key</button>
      </div>
    </form>
  );
}

/** Why the server shows this visitor nothing, and what they can do. */
export function whyClosed(used: Credential | undefined): { problem: string; advice: string } {
  if (used === undefined && hasSignedOut) return { problem: "You are signed out", advice: "This page has forgotten your sign-in. Sign out of your account, too, if you are signed in there." };
  if (used === undefined && !acceptsKeys) return { problem: "Sign in to see the tools", advice: "Then you can also call them." };
  if (used === undefined) return { problem: "This server needs credentials", advice: "With them, you can see its tools and call them." };
  if (used.person) return { problem: "Your sign-in has ended", advice: "Sign in again to see the tools and to call them." };
  return { problem: "The server does not accept this key", advice: "Check the key, or enter a different one." };
}

/** What visitors do if the server needs credentials: sign in, if they can, or enter a key into the dialog of the header. */
export function GetKey() {
  return (
    <div class="row">
      <SignInButton />
      {acceptsKeys && <button type="button" class={useSignIn() && "secondary"} onClick={() => openDialog()}>Enter a key</button>}
      {hasSignedOut && <a class="button secondary" href={ACCOUNT} onClick={leadBack}>Your account</a>}
    </div>
  );
}

let found: Promise<SignIn | undefined> | undefined;

/** Asks the server once, and again if it could not respond. */
function findSignIn(): Promise<SignIn | undefined> {
  found ??= signIn().catch(() => (found = undefined));
  return found;
}

/** How to sign in at this server; undefined if it has no sign-in. */
export function useSignIn(): SignIn | undefined {
  const [server, setServer] = useState<SignIn>();
  useEffect(() => {
    void findSignIn().then(setServer);
  }, []);
  return server;
}

/** Whether it is known that the server has no sign-in: then the only credentials are keys and the tokens of others. */
export function useWithoutSignIn(): boolean {
  const [isWithout, setWithout] = useState(false);
  useEffect(() => void findSignIn().then((server) => setWithout(server === undefined)), []);
  return isWithout;
}

/** Leads to the clients that a person has connected, if the server has a sign-in. */
function AccountLink() {
  return useSignIn() ? <p class="soft"><a href={ACCOUNT} onClick={leadBack}>See the clients you have connected</a></p> : null;
}

interface SignInProps {
  /** What the button says. */
  label?: string;
  /** The scopes to ask for, in addition to those that the visitor has allowed. */
  scopes?: string[];
  class?: string;
  done?(): void;
}

/** Signs in at this server, if it has a sign-in, or asks for more scopes. */
export function SignInButton({ label = "Sign in", scopes = [], done, ...attributes }: SignInProps) {
  const server = useSignIn();
  const [problem, setProblem] = useState<string>();
  if (!server) return null;
  const start = async () => {
    setProblem(undefined);
    try {
      await authorize(server, scopes);
      done?.();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "You could not be signed in. Check your connection and try again.");
    }
  };
  return (
    <div class="sign-in">
      <button type="button" {...attributes} onClick={start}>{label}</button>
      {problem && <p class="error" role="alert">{problem}</p>}
    </div>
  );
}
