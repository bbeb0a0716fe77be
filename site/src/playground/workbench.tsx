// One tool: its form, the call in every protocol, and the result.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { CallCode, hidden } from "../call.tsx";
import { enter, focusError, reveal } from "../form/focus.ts";
import { type Errors, MISSING, Properties, idOf } from "../form/form.tsx";
import { problemIn } from "../json-problem.ts";
import { type Json, isObject, own, parse, stringify } from "../json.ts";
import { GetKey, useCredential } from "../key.tsx";
import { Code, Tabs } from "../parts.tsx";
import { type CallContext, type Challenge, type Outcome, type Protocol, bodyOf, outcomeOf, pathOf, withProof } from "../protocols.ts";
import { initial, kindOf } from "../schema.ts";
import { type Details, type Reply, type Tool, post } from "../server.ts";
import { sketch } from "../sketch.ts";
import { Authorization } from "./challenge.tsx";
import { ContextForm, adviceFor } from "./context.tsx";
import { NeedsScopes } from "./permissions.tsx";
import { LastRequests, keep } from "./requests.tsx";
import { Value } from "./value.tsx";
import { View } from "./view.tsx";

interface Result {
  reply: Reply;
  outcome: Outcome;
  called: Called;
}

/** What was called. */
interface Called {
  input: Json;
  context: CallContext;
}

/** A run can be refused by this page, before it is sent. */
type State = { is: "idle" } | { is: "refused"; why: string } | { is: "running" } | { is: "done"; result: Result } | { is: "unreachable" };

interface WorkbenchProps {
  tool: Tool;
  details: Details | undefined;
  protocols: Protocol[];
  /** The versions of the tool, the newest first. */
  versions: Tool[];
  /** Whether the focus goes into the form, once. */
  enters: RefObject<boolean>;
}

export function Workbench({ tool, details, protocols, versions, enters }: WorkbenchProps) {
  const [input, setInput] = useState<Json>(() => initial(tool.input_schema) ?? {});
  const [mode, setMode] = useState<"Form" | "JSON">("Form");
  const [context, setContext] = useState<CallContext>({});
  const [protocolName, setProtocolName] = useState(protocols[0]?.name ?? "");
  const [state, setState] = useState<State>({ is: "idle" });
  // A number for each set of values that did not come from typing: fields with their own state start again.
  const [filled, setFilled] = useState(0);
  // Whether the text of the JSON tab is no JSON. `input` is then what it was before.
  const [isBroken, setBroken] = useState(false);
  // Whether the visitor wants to leave the JSON tab, which would lose such a text.
  const [isLeaving, setLeaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const output = useRef<HTMLElement>(null);
  const protocol = protocols.find(({ name }) => name === protocolName);
  const carriers = protocols.filter(({ carriesContext }) => carriesContext);
  const advice = protocol?.carriesContext === false ? `${protocol.title} calls cannot carry a user or an access token. ${adviceFor(carriers)}` : undefined;
  const isPerson = useCredential()?.person !== undefined;
  const title = details?.title ?? tool.id.split("@")[0] ?? tool.id;
  // The required fields that are empty, after an attempt to run the tool. The server would first ask for access to an account: a
  // visitor would agree for a call that cannot succeed.
  const [lacking, setLacking] = useState<Errors>({});
  const errors: Errors = state.is === "done" && !state.result.outcome.success ? state.result.outcome.parameters : lacking;

  // The number of the run whose result is shown. One that arrives after the protocol or the input was replaced is dropped.
  const runs = useRef(0);
  const begin = (state: State): number => {
    setState(state);
    return (runs.current += 1);
  };

  const run = async (chosen: Protocol, extra: CallContext = context) => {
    if (isBroken) {
      begin({ is: "refused", why: "The input is not valid JSON." });
      return form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    }
    const empty = tool.requirements?.authorization && mode === "Form" ? emptyFields(tool, input) : {};
    setLacking(empty);
    const names = Object.keys(empty);
    if (names.length > 0) return void begin({ is: "refused", why: `Enter a value for ${names.join(", ")}.` });
    const number = begin({ is: "running" });
    try {
      const called = { input, context: chosen.carriesContext ? extra : {} };
      const body = bodyOf(chosen, tool, input, called.context);
      const reply = await post(pathOf(chosen, tool), stringify(body), chosen.headers);
      keep(pathOf(chosen, tool), stringify(bodyOf(chosen, tool, input, hidden(called.context)), 2), chosen.headers, reply);
      if (number === runs.current) setState({ is: "done", result: { reply, outcome: outcomeOf(chosen, reply), called } });
    } catch {
      if (number === runs.current) setState({ is: "unreachable" });
    }
  };
  const repeat = (proof: string | undefined) => {
    if (protocol) void run(protocol, withProof(context, tool, proof));
  };
  // A call for no user gets no challenge, only an explanation.
  const hasNoUser = !isPerson && !context.user_id;
  const lacksUser = hasNoUser && state.is === "done" && !state.result.outcome.success && state.result.outcome.challenges.some(({ check_url }) => check_url === undefined);
  // People who use a keyboard or a screen reader continue at the first field that is wrong.
  useEffect(() => {
    if ((Object.keys(errors).length > 0 || lacksUser) && focusError(form.current)) return;
    // In a long form, or on a small screen, the result is out of view.
    if (state.is === "done" || state.is === "unreachable") reveal(output.current);
  }, [state, lacking]);
  useEffect(() => {
    if (enters.current) enter(form.current);
    enters.current = false;
  }, []);

  const isBusy = state.is === "running" || !protocol;
  const kind = kindOf(tool.input_schema);
  const fill = (value: Json) => {
    setInput(value);
    setBrokenText(false);
    setFilled(filled + 1);
    begin({ is: "idle" });
  };
  const choose = (chosen: typeof mode) => {
    if (chosen === mode) return;
    if (isBroken) {
      setLeaving(true);
      return form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    }
    setMode(chosen);
  };
  const setBrokenText = (broken: boolean) => {
    setBroken(broken);
    if (!broken) setLeaving(false);
  };
  const discard = () => {
    setBrokenText(false);
    setMode("Form");
  };
  return (
    <div class="workbench">
      <section class="input" aria-labelledby="tool-title">
        <h1 id="tool-title">{title}</h1>
        <p class="tool-id"><code>{tool.id}</code>{details?.deprecated && <span class="badge warn">deprecated</span>}{details?.scopes.map((scope) => <span class="badge" key={scope}>{scope}</span>)}</p>
        {versions.length > 1 && (
          <p class="versions">Versions: {versions.map(({ id, version }) => id === tool.id ? <strong key={id}>{version}</strong> : <a key={id} href={`#${encodeURIComponent(id)}`}>{version}</a>)}</p>
        )}
        <p class="description">{tool.description}</p>
        {details && details.examples.length > 0 && (
          <div class="examples" role="group" aria-label="Examples">
            {details.examples.map((example, at) => (
              <button key={at} type="button" class="chip" onClick={() => fill(example.input)}>
                {example.title ?? (details.examples.length === 1 ? "Example" : `Example ${at + 1}`)}
                {!example.succeeds && <span class="badge bad">error</span>}
              </button>
            ))}
          </div>
        )}
        <form
          ref={form}
          noValidate
          autocomplete="off"
          aria-label={`Input of ${title}`}
          onSubmit={(event) => {
            event.preventDefault();
            if (protocol && !isBusy) void run(protocol);
          }}
        >
          <Tabs names={["Form", "JSON"] as const} chosen={mode} label="Input as" panel="input-panel" choose={choose} />
          <div id="input-panel" role="tabpanel" aria-label={mode} key={filled}>
            {mode === "JSON" || kind.is !== "object" ? (
              <InputText input={input} onChange={setInput} onBroken={setBrokenText} error={own(errors, "input")} {...(isLeaving && { discard })} />
            ) : kind.properties.length === 0 && kind.rest === undefined ? (
              <p class="soft">This tool takes no input.</p>
            ) : (
              <Properties kind={kind} path="" value={input} errors={errors} onChange={setInput} />
            )}
          </div>
          {tool.requirements && <ContextForm requirements={tool.requirements} context={context} protocol={protocol} carriers={carriers} isPerson={isPerson} lacksUser={lacksUser} onChange={setContext} />}
          <div class="run">
            {/* A button that is disabled would lose the focus. */}
            <button type="submit" aria-disabled={isBusy}>{state.is === "running" ? "Running…" : "Run"}</button>
            <div class="over">
              <label for="protocol">over</label>
              <select id="protocol" aria-describedby="protocol-use" value={protocolName} onChange={({ currentTarget }) => { setProtocolName(currentTarget.value); begin({ is: "idle" }); }}>
                {protocols.map(({ name, title }) => <option key={name} value={name}>{title}</option>)}
              </select>
            </div>
            <p class="note" id="protocol-use">{protocol?.use}</p>
          </div>
        </form>
      </section>
      <div class="output">
        <section ref={output} class="result" aria-labelledby="result-title">
          <h2 id="result-title">Result</h2>
          <Outcomes
            state={state}
            show={(value, { input, context }) => details?.view && protocols.some(({ name }) => name === "mcp") && (
              <View key={runs.current} uri={details.view} {...{ title, tool, input, value, context }} />
            )}
            returns={tool.output_schema ? sketch(tool.output_schema) : undefined}
            repeat={repeat}
            advice={!isPerson && tool.requirements?.authorization ? advice : undefined}
            ask={(challenges) => (
              <Authorization challenges={challenges} tool={title} providers={(tool.requirements?.authorization ?? []).map(({ id }) => id)} user={isPerson ? undefined : (context.user_id ?? "")} advice={advice} completed={repeat} />
            )}
          />
        </section>
        <section aria-labelledby="call-title">
          <h2 id="call-title">Code for this call</h2>
          {protocol && <CallCode protocol={protocol} tool={tool} input={input} context={context} {...(isBroken && { outdated: "The JSON is invalid. This is the last valid call." })} />}
        </section>
        <LastRequests />
      </div>
    </div>
  );
}

/** The required fields of the form that have no value, with what is wrong with each. */
function emptyFields(tool: Tool, input: Json): Errors {
  const kind = kindOf(tool.input_schema);
  if (kind.is !== "object" || !isObject(input)) return {};
  const required = kind.properties.filter(({ name, required }) => required && own(input, name) === undefined);
  return Object.fromEntries(required.map(({ name }) => [name, MISSING]));
}

interface InputTextProps {
  input: Json;
  onChange(value: Json): void;
  onBroken(isBroken: boolean): void;
  error: string | undefined;
  /** Drops a text that is no JSON, if the visitor wants to go to the form. */
  discard?(): void;
}

function InputText({ input, onChange, onBroken, error, discard }: InputTextProps) {
  const [text, setText] = useState(stringify(input, 2));
  const [problem, setProblem] = useState<string>();
  const read = (written: string) => {
    setText(written);
    try {
      onChange(parse(written));
      setProblem(undefined);
      onBroken(false);
    } catch {
      onBroken(true);
      setProblem(problemIn(written));
    }
  };
  const message = problem ?? error;
  return (
    <div class="field">
      <label for={idOf("input")}>Input as JSON</label>
      <textarea id={idOf("input")} class="code" rows={10} spellcheck={false} value={text} aria-invalid={message ? "true" : undefined} aria-describedby={message ? "input-error" : undefined} onInput={({ currentTarget }) => read(currentTarget.value)} />
      {message && <p class="error" id="input-error">{message}</p>}
      {discard && (
        <div class="notice" role="alert">
          <p>The form cannot show this text. Correct it, or go back to the last valid input.</p>
          <div class="row"><button type="button" class="secondary" onClick={discard}>Discard the text</button></div>
        </div>
      )}
    </div>
  );
}

interface Continue {
  /** What the value is like, if that is known. */
  returns: string | undefined;
  /** The view of a value, if its tool has one. */
  show(value: Json, called: Called): ComponentChildren;
  /** Repeats the call, with the proof of a grant if there is one. */
  repeat(proof: string | undefined): void;
  /** What to do if the call fails because its protocol carries neither users nor access tokens. */
  advice: string | undefined;
  /** Shows the challenges of the call. */
  ask(challenges: Challenge[]): ComponentChildren;
}

function Outcomes({ state, ...next }: { state: State } & Continue) {
  switch (state.is) {
    case "idle":
      return <><p class="soft" role="status">Run the tool to see the result here.</p><Returns {...next} /></>;
    case "refused":
      return <><p class="failure" role="alert">The tool was not run. {state.why}</p><Returns {...next} /></>;
    case "running":
      return <p class="soft" role="status">Running…</p>;
    case "unreachable":
      return <p class="failure" role="alert">The server did not respond, and the tool may or may not have run. Check your connection and run it again.</p>;
    case "done":
      return <Done {...state.result} {...next} />;
  }
}

/** What a call will return. */
function Returns({ returns }: Continue) {
  return returns === undefined ? null : <details class="returns" open><summary>What it returns</summary><pre tabIndex={0} aria-label="The value's schema">{returns}</pre></details>;
}

/** A value, or its view and the value below. */
function Shown({ value, view }: { value: Json; view: ComponentChildren }) {
  const plain = <div class="value"><Value value={value} /></div>;
  if (!view) return plain;
  return (
    <>
      {view}
      <details open>
        <summary>Value</summary>
        {plain}
      </details>
    </>
  );
}

function Done({ reply, outcome, called, show, repeat, advice, ask }: Result & Continue) {
  const isStep = !outcome.success && outcome.challenges.length > 0;
  const time = `${Math.max(1, Math.round(reply.duration))} ms`;
  return (
    <>
      <p class="verdict" role="status">
        <span class={outcome.success ? "badge good" : isStep ? "badge" : "badge bad"}>{outcome.success ? "Success" : isStep ? "One more step" : "Error"}</span>
        {!isStep && <span class="soft">{reply.status} · {time}{outcome.success && outcome.duration ? ` (${outcome.duration} ms upstream)` : ""}</span>}
      </p>
      {outcome.success ? (
        <Shown value={outcome.value} view={show(outcome.value, called)} />
      ) : isStep ? (
        ask(outcome.challenges)
      ) : (
        <div class="failure">
          <p>{outcome.message}</p>
          {advice !== undefined && <p>This tool uses an account. {advice}</p>}
          {outcome.hint !== undefined && <p><strong>Hint for the model:</strong> {outcome.hint}</p>}
          {outcome.log !== undefined && <p><strong>For the log:</strong> {outcome.log}</p>}
          {Object.entries(outcome.parameters).length > 0 && (
            <ul>
              {Object.entries(outcome.parameters).map(([path, text]) => (
                <li key={path}><code>{path}</code>: {text}</li>
              ))}
            </ul>
          )}
        </div>
      )}
      {!outcome.success && <NeedsScopes scopes={reply.lacking} repeat={() => repeat(undefined)} />}
      {reply.status === 401 && <GetKey />}
      <details>
        <summary>Response</summary>
        <Code text={reply.json === undefined ? reply.text : stringify(reply.json, 2)} label="response" />
      </details>
    </>
  );
}
