// The visitor's key, or the token of a sign-in.
import { useEffect, useRef, useState } from "preact/hooks";
import { hasKey, keyChanges, onKey, setKey } from "./server.ts";
import { type SignIn, getToken, signIn } from "./sign-in.ts";

/** Whether the visitor has given a key. */
export function useKey(): boolean {
  const [has, setHas] = useState(hasKey());
  useEffect(() => onKey(() => setHas(hasKey())), []);
  return has;
}

/** A number that changes with the key. */
export function useKeyChanges(): number {
  const [changes, setChanges] = useState(keyChanges());
  useEffect(() => onKey(() => setChanges(keyChanges())), []);
  return changes;
}

let openDialog = () => {};

/** The button of the page's header that asks for the API key. */
export function KeyButton() {
  const has = useKey();
  const dialog = useRef<HTMLDialogElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [opened, setOpened] = useState(false);
  const open = () => {
    setOpened(true);
    dialog.current?.showModal();
  };
  openDialog = open;
  const finish = () => {
    dialog.current?.close();
    // The dialog may have been opened by a part of the page that the key replaces.
    button.current?.focus();
  };
  return (
    <>
      <button ref={button} type="button" class="secondary key-button" onClick={open}>
        <span class={has ? "dot on" : "dot"} aria-hidden="true" />
        {has ? "Key set" : "Set key"}
      </button>
      <dialog ref={dialog} aria-labelledby="key-title" onClose={() => setOpened(false)}>
        <KeyForm opened={opened} cancel={() => dialog.current?.close()} finish={finish} />
      </dialog>
    </>
  );
}

function KeyForm({ opened, cancel, finish }: { opened: boolean; cancel(): void; finish(): void }) {
  const has = useKey();
  const input = useRef<HTMLInputElement>(null);
  const take = (value: string) => {
    setKey(value.trim());
    // The field would keep it, and browsers restore fields.
    if (input.current) input.current.value = "";
    finish();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (input.current?.value) take(input.current.value);
  };
  return (
    <form method="dialog" class="key-form" autocomplete="off" onSubmit={onSubmit}>
      <h2 id="key-title">API key or token</h2>
      <p>It stays in this page's memory and is lost when you reload.</p>
      {opened && !has && <SignInButton done={finish} />}
      {opened && <AccountLink />}
      <label for="key">Key</label>
      <input id="key" ref={input} type="password" autocomplete="off" spellcheck={false} />
      <div class="row end">
        {has && (
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

/** What visitors do if the server needs credentials: sign in, if they can, or enter a key into the dialog of the header. */
export function GetKey() {
  return (
    <div class="row">
      <SignInButton />
      <button type="button" class={useSignIn() && "secondary"} onClick={() => openDialog()}>Enter a key</button>
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
function useSignIn(): SignIn | undefined {
  const [server, setServer] = useState<SignIn>();
  useEffect(() => void findSignIn().then(setServer), []);
  return server;
}

/** Leads to the clients that a person has connected, if the server has a sign-in. */
function AccountLink() {
  return useSignIn() ? <p class="soft"><a href="/account" target="_blank" rel="noreferrer">See the clients you have connected</a></p> : null;
}

/** Signs in at this server, if it has a sign-in. */
export function SignInButton({ done }: { done?(): void }) {
  const server = useSignIn();
  const [problem, setProblem] = useState<string>();
  if (!server) return null;
  const start = async () => {
    setProblem(undefined);
    try {
      setKey(await getToken(server));
      done?.();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "Something went wrong. Try again.");
    }
  };
  return (
    <div class="sign-in">
      <button type="button" onClick={start}>Sign in</button>
      {problem && <p class="error" role="alert">{problem}</p>}
    </div>
  );
}
