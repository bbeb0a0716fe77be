// Small parts that several pages use.
import { useRef, useState } from "preact/hooks";

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
