// Where the focus goes when the form changes: people who use a keyboard or a screen reader continue there.
import { useLayoutEffect, useRef } from "preact/hooks";

const CONTROLS = "input, select, textarea, button";

/** The first control within an element. */
export const firstControl = (element: Element | null | undefined): HTMLElement | null => element?.querySelector<HTMLElement>(CONTROLS) ?? null;

/** Returns a function that moves the focus once the form has changed: what had it may be gone by then, and what gets it is new. */
export function useNextFocus(): (find: () => HTMLElement | null) => void {
  const wanted = useRef<(() => HTMLElement | null) | undefined>(undefined);
  useLayoutEffect(() => {
    const find = wanted.current;
    wanted.current = undefined;
    find?.()?.focus();
  });
  return (find) => (wanted.current = find);
}

/** Moves the focus to the first field that is wrong, or to its group, and shows the message. Returns whether there is one. */
export function focusError(form: HTMLElement | null): boolean {
  const message = form?.querySelector("p.error");
  const place = message?.closest<HTMLElement>(".field");
  if (!message || !place) return false;
  (place.querySelector<HTMLElement>("[aria-invalid], [data-absent]") ?? place).focus();
  message.scrollIntoView({ block: "nearest" });
  return true;
}

/** Moves the focus to the first field of a form, or to its button if it has none, with what is above it in view. */
export function enter(form: HTMLElement | null): void {
  const field = firstControl(form?.querySelector("#input-panel")) ?? form?.querySelector<HTMLElement>("[type=submit]");
  field?.focus({ preventScroll: true });
  reveal(form?.closest("section"));
  field?.scrollIntoView({ block: "nearest" });
}

/** The share of the window within which the beginning of something is in view. */
const UPPER = 0.6;

/** Scrolls to the beginning of an element, unless that is in the upper part of the window. */
export function reveal(element: Element | null | undefined): void {
  const top = element?.getBoundingClientRect().top ?? 0;
  if (top < 0 || top > innerHeight * UPPER) element?.scrollIntoView({ block: "start" });
}
