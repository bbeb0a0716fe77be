// What a tool requires in addition to its input: a user, tokens and secrets. All of it stays in memory.
import type { CallContext } from "../protocols.ts";
import type { Tool } from "../server.ts";

interface ContextProps {
  requirements: NonNullable<Tool["requirements"]>;
  context: CallContext;
  onChange(context: CallContext): void;
}

export function ContextForm({ requirements, context, onChange }: ContextProps) {
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
  return (
    <fieldset class="context">
      <legend>User and credentials</legend>
      {(user_id || authorization.length > 0) && (
        <div class="field">
          <label for="context-user">User</label>
          <p class="note" id="context-user-note">Your application's ID for the user. If you send a user token, the server takes the ID from it.</p>
          <input id="context-user" type="text" autocomplete="off" aria-describedby="context-user-note" value={context.user_id ?? ""} onInput={({ currentTarget }) => setUser(currentTarget.value)} />
        </div>
      )}
      {authorization.map(({ id }) => (
        <div class="field" key={id}>
          <label for={`context-token-${id}`}>Token for {id}</label>
          <p class="note" id={`context-token-${id}-note`}>Optional: without it, the server asks the user.</p>
          <input id={`context-token-${id}`} type="password" autocomplete="off" aria-describedby={`context-token-${id}-note`} onInput={({ currentTarget }) => setToken(id, currentTarget.value)} />
        </div>
      ))}
      {secrets.map(({ id }) => (
        <div class="field" key={id}>
          <label for={`context-secret-${id}`}>Secret {id}</label>
          <input id={`context-secret-${id}`} type="password" autocomplete="off" onInput={({ currentTarget }) => setSecret(id, currentTarget.value)} />
        </div>
      ))}
    </fieldset>
  );
}
