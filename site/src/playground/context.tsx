// What a tool requires in addition to its input: a user, tokens and secrets. All of it stays in memory. A person who has signed in
// is the user, and is asked for access when it is needed: only the holders of keys act for users.
import type { CallContext, Protocol } from "../protocols.ts";
import type { Tool } from "../server.ts";

interface ContextProps {
  requirements: NonNullable<Tool["requirements"]>;
  context: CallContext;
  /** The protocol of the call, and those that can carry what the tool requires. */
  protocol: Protocol | undefined;
  carriers: Protocol[];
  /** Whether the caller has signed in. */
  isPerson: boolean;
  /** Whether the server could not tell for which user the last call was. */
  lacksUser: boolean;
  onChange(context: CallContext): void;
}

/** What to do if a protocol cannot carry a user, tokens or secrets. */
export const adviceFor = (carriers: Protocol[]): string => `Choose a different protocol, such as ${carriers[0]?.title ?? "OXP"}, to enter them.`;

export function ContextForm({ requirements, context, protocol, carriers, isPerson, lacksUser, onChange }: ContextProps) {
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
  if (protocol?.carriesContext === false) {
    const lacking = [...(!isPerson && (user_id || authorization.length > 0) ? ["users or access tokens"] : []), ...(secrets.length > 0 ? ["secrets"] : [])];
    return lacking.length === 0 ? null : <p class="note">{protocol.title} calls cannot carry {lacking.join(" or ")}, which this tool uses. {adviceFor(carriers)}</p>;
  }
  const tokens = authorization.map(({ id }) => (
    <div class="field" key={id}>
      <label for={`context-token-${id}`}>Access token for {id}</label>
      <p class="note" id={`context-token-${id}-note`}>Optional. Without one, the server asks the user for access.</p>
      <input id={`context-token-${id}`} type="password" autocomplete="off" aria-describedby={`context-token-${id}-note`} value={context.authorization?.find((one) => one.id === id)?.token ?? ""} onInput={({ currentTarget }) => setToken(id, currentTarget.value)} />
    </div>
  ));
  const folded = tokens.length > 0 && <details><summary>Use your own access token</summary>{tokens}</details>;
  if (isPerson && secrets.length === 0) return folded || null;
  return (
    <fieldset class="context">
      <legend>{isPerson ? "Credentials" : "User and credentials"}</legend>
      {!isPerson && (user_id || authorization.length > 0) && (
        <div class="field">
          <label for="context-user">User</label>
          <p class="note" id="context-user-note">The ID of the user in your application. To try it out, enter any name. Leave it empty if you enter an access token.</p>
          <input id="context-user" type="text" autocomplete="off" aria-invalid={lacksUser ? "true" : undefined} aria-describedby={lacksUser ? "context-user-note context-user-error" : "context-user-note"} value={context.user_id ?? ""} onInput={({ currentTarget }) => setUser(currentTarget.value)} />
          {lacksUser && <p class="error" id="context-user-error">Enter a user.</p>}
        </div>
      )}
      {isPerson ? folded : tokens}
      {secrets.map(({ id }) => (
        <div class="field" key={id}>
          <label for={`context-secret-${id}`}>Secret {id}</label>
          <input id={`context-secret-${id}`} type="password" autocomplete="off" value={context.secrets?.find((one) => one.id === id)?.value ?? ""} onInput={({ currentTarget }) => setSecret(id, currentTarget.value)} />
        </div>
      ))}
    </fieldset>
  );
}
