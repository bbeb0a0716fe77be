// What a person who has signed in can still allow this page. The sign-in itself asks for no scope: each is asked for when it is
// needed.
import { SignInButton, useCredential, useSignIn } from "../key.tsx";

/** The scope of the chat gateway. */
const GATEWAY = "gateway";

/** The scopes that the server has and the person has not allowed this page. Without a sign-in there are none. */
function useMissingScopes(): string[] {
  const person = useCredential()?.person;
  const server = useSignIn(person !== undefined);
  return person ? (server?.scopes ?? []).filter((scope) => !person.scopes.includes(scope)) : [];
}

/** Whether the visitor can still allow this page to chat. */
export const useMayAllowChat = (): boolean => useMissingScopes().includes(GATEWAY);

/** Asks for the tools that the server only lists for those who have allowed their scopes. */
export function MoreTools() {
  const scopes = useMissingScopes().filter((scope) => scope !== GATEWAY);
  if (scopes.length === 0) return null;
  return (
    <section class="more-tools" aria-labelledby="more-tools">
      <h2 id="more-tools">More tools</h2>
      <p class="soft">To use these tools here, allow this page to call them for you.</p>
      {scopes.map((scope) => <SignInButton key={scope} class="chip" label={`Allow ${scope}`} scopes={[scope]} />)}
    </section>
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
