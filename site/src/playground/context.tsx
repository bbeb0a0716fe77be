// What a tool requires in addition to its input: a user, tokens and secrets. All of it stays in memory. A person who has signed in
// is the user, and is asked for access when it is needed: only the holders of keys act for users.
import type { CallContext } from "../protocols.ts";
import type { Tool } from "../server.ts";

interface ContextProps {
  requirements: NonNullable<Tool["requirements"]>;
  context: CallContext;
  /** Whether the caller has signed in. */
  isPerson: boolean;
  /** Whether the server could not tell for which user the last call was. */
  lacksUser: boolean;
  onChange(context: CallContext): void;
}

export function ContextForm({ requirements, context, isPerson, lacksUser, onChange }: ContextProps) {
  const { authorization = [], secrets = [], user_id } = requirements;
  const setUser = (user: string) => {
    const { user_id: _, ...others } = context;
    onChange(user === "" ? others : { ...others, user_id: user });
  };
  const setToken = (id: string, token: string) => {
    const kept = (context.authorization ?? []).filter((one) => one.id !== id);
    const { authorization: _, ...others } = context;
    const all = token === "" ? kept : [...kept, { id, token }];
    onChange(all.length === 0 ? others : { ...others, authorization: all });
  };
  const setSecret = (id: string, value: string) => {
    const kept = (context.secrets ?? []).filter((one) => one.id !== id);
    const { secrets: _, ...others } = context;
    const all = value === "" ? kept : [...kept, { id, value }];
    onChange(all.length === 0 ? others : { ...others, secrets: all });
  };
  const tokens = authorization.map(({ id }) => (
    <div class="field" key={id}>
      <label for={`context-token-${id}`}>Token for {id}</label>
      <p class="note" id={`context-token-${id}-note`}>Optional: without it, the server asks the user.</p>
      <input id={`context-token-${id}`} type="password" autocomplete="off" aria-describedby={`context-token-${id}-note`} onInput={({ currentTarget }) => setToken(id, currentTarget.value)} />
    </div>
  ));
  const folded = tokens.length > 0 && <details><summary>Send a token of your own</summary>{tokens}</details>;
  if (isPerson && secrets.length === 0) return folded || null;
  return (
    <fieldset class="context">
      <legend>{isPerson ? "Credentials" : "User and credentials"}</legend>
      {!isPerson && (user_id || authorization.length > 0) && (
        <div class="field">
          <label for="context-user">User</label>
          <p class="note" id="context-user-note">For whom you call: any ID that your application has for the user. With a token of a user, leave it empty.</p>
          <input id="context-user" type="text" autocomplete="off" aria-invalid={lacksUser ? "true" : undefined} aria-describedby={lacksUser ? "context-user-note context-user-error" : "context-user-note"} value={context.user_id ?? ""} onInput={({ currentTarget }) => setUser(currentTarget.value)} />
          {lacksUser && <p class="error" id="context-user-error">Enter the user for whom the tool acts</p>}
        </div>
      )}
      {isPerson ? folded : tokens}
      {secrets.map(({ id }) => (
        <div class="field" key={id}>
          <label for={`context-secret-${id}`}>Secret {id}</label>
          <input id={`context-secret-${id}`} type="password" autocomplete="off" onInput={({ currentTarget }) => setSecret(id, currentTarget.value)} />
        </div>
      ))}
    </fieldset>
  );
}
