// The visitor's key, or the token of a sign-in.
import { useEffect, useRef, useState } from "preact/hooks";
import { hasKey, onKey, setKey } from "./server.ts";
import { type SignIn, getToken, signIn } from "./sign-in.ts";

/** Whether the visitor has given a key. */
export function useKey(): boolean {
  const [has, setHas] = useState(hasKey());
  useEffect(() => onKey(() => setHas(hasKey())), []);
  return has;
}

/** The button of the page's header that asks for the API key. */
export function KeyButton() {
  const has = useKey();
  const dialog = useRef<HTMLDialogElement>(null);
  const [opened, setOpened] = useState(false);
  const open = () => {
    setOpened(true);
    dialog.current?.showModal();
  };
  return (
    <>
      <button type="button" class="secondary key-button" onClick={open}>
        <span class={has ? "dot on" : "dot"} aria-hidden="true" />
        {has ? "Key set" : "Set key"}
      </button>
      <dialog ref={dialog} aria-labelledby="key-title">
        <KeyForm canSignIn={opened && !has} done={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function KeyForm({ canSignIn, done }: { canSignIn: boolean; done(): void }) {
  const has = useKey();
  const input = useRef<HTMLInputElement>(null);
  const take = (value: string) => {
    setKey(value.trim());
    // The field would keep it, and browsers restore fields.
    if (input.current) input.current.value = "";
    done();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (input.current?.value) take(input.current.value);
  };
  return (
    <form method="dialog" class="key-form" autocomplete="off" onSubmit={onSubmit}>
      <h2 id="key-title">API key or token</h2>
      <p>It stays in the memory of this page: it is not stored, and reloading the page forgets it.</p>
      {canSignIn && <SignInButton done={done} />}
      <label for="key">Key</label>
      <input id="key" ref={input} type="password" autocomplete="off" spellcheck={false} />
      <div class="row end">
        {has && (
          <button type="button" class="plain" onClick={() => take("")}>
            Forget key
          </button>
        )}
        <button type="button" class="secondary" onClick={done}>
          Cancel
        </button>
        <button type="submit">Use key</button>
      </div>
    </form>
  );
}

let found: Promise<SignIn | undefined> | undefined;

/** Signs in at this server, if it has a sign-in. */
export function SignInButton({ done }: { done?(): void }) {
  const [server, setServer] = useState<SignIn>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => void (found ??= signIn()).then(setServer), []);
  if (!server) return null;
  const start = async () => {
    setProblem(undefined);
    try {
      setKey(await getToken(server));
      done?.();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : "It did not work.");
    }
  };
  return (
    <div class="sign-in">
      <button type="button" onClick={start}>Sign in</button>
      {problem && <p class="error" role="alert">{problem}</p>}
    </div>
  );
}
