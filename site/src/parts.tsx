// Small parts that several pages use.
import { useEffect, useRef, useState } from "preact/hooks";
import { hasKey, onKey, setKey } from "./server.ts";

/** Whether the visitor has given a key. */
export function useKey(): boolean {
  const [has, setHas] = useState(hasKey());
  useEffect(() => onKey(() => setHas(hasKey())), []);
  return has;
}

/** A button that copies a text. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Only pages from https or from this machine have a clipboard.
    await navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="copy" aria-label={label} onClick={copy}>
      <span aria-live="polite">{copied ? "Copied" : "Copy"}</span>
    </button>
  );
}

/** A block of code with a button to copy it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <Copy text={text} label={`Copy ${label}`} />
    </div>
  );
}

export interface TabNames<Name extends string> {
  names: readonly Name[];
  chosen: NoInfer<Name>;
  label: string;
  /** The id of the panel that the tabs control. */
  panel: string;
  titles?: Partial<Record<NoInfer<Name>, string>>;
  choose(name: NoInfer<Name>): void;
}

/** Tabs with the keys of the ARIA pattern: arrows, Home and End. */
export function Tabs<Name extends string>({ names, chosen, label, panel, titles = {}, choose }: TabNames<Name>) {
  const list = useRef<HTMLDivElement>(null);
  const go = (index: number) => {
    const name = names[(index + names.length) % names.length];
    if (name === undefined) return;
    choose(name);
    list.current?.querySelectorAll<HTMLButtonElement>("[role=tab]")[names.indexOf(name)]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = names.indexOf(chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(next);
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button key={name} type="button" role="tab" aria-selected={name === chosen} aria-controls={panel} tabIndex={name === chosen ? 0 : -1} onClick={() => choose(name)}>
          {titles[name] ?? name}
        </button>
      ))}
    </div>
  );
}

/** The button of the page's header that asks for the API key. */
export function KeyButton() {
  const has = useKey();
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class="secondary key-button" onClick={() => dialog.current?.showModal()}>
        <span class={has ? "dot on" : "dot"} aria-hidden="true" />
        {has ? "Key set" : "Set key"}
      </button>
      <dialog ref={dialog} aria-labelledby="key-title">
        <KeyForm done={() => dialog.current?.close()} />
      </dialog>
    </>
  );
}

function KeyForm({ done }: { done(): void }) {
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
