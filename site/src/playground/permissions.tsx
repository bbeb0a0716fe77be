// What a person who has signed in can still allow this page. The sign-in itself asks for no scope: each is asked for when it is
// needed.
import { SignInButton, useCredential, useMissingScopes } from "../key.tsx";

/** The scope of the chat gateway. */
const GATEWAY = "gateway";

/** Scopes that are of no tool: those of the chat, and of the figures on /usage. */
const NOT_OF_TOOLS = [GATEWAY, "usage", "usage:team"];

/** Those of tools. */
const useToolScopes = (): string[] => useMissingScopes().filter((scope) => !NOT_OF_TOOLS.includes(scope));

/** Whether the visitor can still allow this page to chat. */
export const useMayAllowChat = (): boolean => useMissingScopes().includes(GATEWAY);

/** Asks for the tools that the server only lists for those who have allowed their scopes. */
export function MoreTools() {
  const scopes = useToolScopes();
  if (scopes.length === 0) return null;
  return (
    <section class="more-tools" aria-labelledby="more-tools">
      <h2 id="more-tools">More tools</h2>
      <p class="soft">Some tools need a permission that you have not given this page. The next page names them.</p>
      {scopes.map((scope) => <SignInButton key={scope} class="chip" label={`Allow ${scope}`} scopes={[scope]} />)}
    </section>
  );
}

/** What the page shows if the list does not have the tool of the address: it may need a scope. */
export function NoTool({ id }: { id: string }) {
  const scopes = useToolScopes();
  return (
    <div class="notice wide">
      <h1>{scopes.length > 0 ? "This tool is not in the list" : "There is no such tool"}</h1>
      <p>
        {scopes.length > 0
          ? <><code>{id}</code> may need a permission that you have not given this page. Give it with one of the buttons below the list. If the tool does not appear, this server does not have it, or you may not call it.</>
          : <>This server has no tool <code>{id}</code>, or you may not call it. Choose a tool from the list.</>}
      </p>
    </div>
  );
}

/** What the tab of the chat shows before the visitor has allowed it. */
export function AllowChat() {
  return (
    <div class="notice wide">
      <h1>Chat</h1>
      <p>To chat, allow this page to use the models of this server. Its operator pays for them.</p>
      <SignInButton label="Allow the chat" scopes={[GATEWAY]} />
    </div>
  );
}

/** Asks for the scopes that a call lacks, and repeats it. */
export function NeedsScopes({ scopes, repeat }: { scopes: string[]; repeat(): void }) {
  const person = useCredential()?.person;
  if (scopes.length === 0 || !person) return null;
  return (
    <div class="notice">
      <p>This tool needs your permission: {scopes.map((scope) => <code key={scope}>{scope} </code>)}</p>
      <SignInButton label="Allow and run" scopes={scopes} done={repeat} />
    </div>
  );
}
