/** The types of views: pages in which hosts show the results of tools. */

/**
 * Connects this page to the host that shows it. Components in `.tsx` are connected by the build, and get the view as a property.
 *
 * ```ts
 * import { connect } from "toolbooth/view";
 * import type { Input, Output } from "./forecast.types.js";
 *
 * const view = connect<Input, Output>();
 * view.onChange(() => {
 *   document.body.textContent = view.error ?? `${view.result?.days.length} days`;
 * });
 * ```
 */
export function connect<Input = unknown, Output = unknown>(options?: ConnectOptions): View<Input, Output>;

export interface ConnectOptions {
  /** The name of the view, for the host: the title of the page by default. */
  name?: string;
  /** Its version, `1.0.0` by default. */
  version?: string;
}

/** The connection with the host. The theme, colors and fonts of the host apply to the page, and the host gets the height of the page. */
export interface View<Input = unknown, Output = unknown> {
  /** The input of the call, as the model wrote it: without defaults. */
  readonly input: Partial<Input> | undefined;
  /** The value that the tool has returned; `undefined` until it has, and if it failed. */
  readonly result: Output | undefined;
  /** Why the tool failed, or who cancelled the call. */
  readonly error: string | undefined;
  readonly host: HostContext;
  /** Calls `listener` whenever one of these changes. Returns a function that ends it. */
  onChange(listener: (view: View<Input, Output>) => void): () => void;
  /** Calls a tool of the same server, by the name that models see. Hosts may ask the user first. Throws a `ViewError` if it fails. */
  callTool<Value = unknown>(name: string, input?: object): Promise<Value>;
  /** Opens a page in the user's browser. */
  openLink(url: string): Promise<void>;
  /** Sends a message to the model, as if the user had written it. */
  sendMessage(text: string): Promise<void>;
  /** Tells the model what the user sees or has chosen, for its next answer. The last text replaces those before. */
  tellModel(text: string): Promise<void>;
}

/** What is known about the host. A host may omit everything. */
export interface HostContext {
  readonly theme?: "light" | "dark";
  /** The language of the user, such as `en-US`. */
  readonly locale?: string;
  /** The time zone of the user, such as `Europe/Berlin`. */
  readonly timeZone?: string;
  readonly displayMode?: "inline" | "fullscreen" | "pip";
  readonly platform?: "web" | "desktop" | "mobile";
  readonly [member: string]: unknown;
}

/** The properties of a component in a file `.tsx`, which is its default export. */
export interface ViewProps<Input = unknown, Output = unknown> {
  view: View<Input, Output>;
  input: Partial<Input> | undefined;
  result: Output | undefined;
  error: string | undefined;
  host: HostContext;
}

/** Why a call failed: the error of the tool, or the host's. */
export class ViewError extends Error {}
