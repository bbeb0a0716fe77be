// Small parts that several pages use.
import { useRef, useState } from "preact/hooks";

/** A button in a block of code that copies its text. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState<"Copied" | "Selected">();
  const button = useRef<HTMLButtonElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone("Copied");
    } catch {
      // Only pages from https or from this machine have a clipboard.
      const code = button.current?.closest(".code-block")?.querySelector("code");
      if (code) getSelection()?.selectAllChildren(code);
      setDone("Selected");
    }
    setTimeout(() => setDone(undefined), 1500);
  };
  return (
    <button ref={button} type="button" class="copy" aria-label={label} onClick={copy}>
      <span aria-hidden="true">{done ?? "Copy"}</span>
      <span class="visually-hidden" role="status">{done}</span>
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

/** What is shown instead of the tools if the server did not respond. */
export function Unreachable({ retry }: { retry(): void }) {
  return (
    <div class="notice" role="alert">
      <p>The server did not respond.</p>
      <div class="row"><button type="button" class="secondary" onClick={retry}>Try again</button></div>
    </div>
  );
}
