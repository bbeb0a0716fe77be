// The chat: a conversation with a model of the gateway that may call this server's tools.
import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { parse, stringify } from "../json.ts";
import type { Details, Model, Tool } from "../server.ts";
import { cheapest, questions, tookText, withPrice } from "./chat-texts.ts";
import { Conversation, type ToolCall, type Turn } from "./conversation.ts";

interface ChatProps {
  models: Model[];
  tools: Tool[];
  details: Map<string, Details>;
}

export function Chat({ models, tools, details }: ChatProps) {
  const [model, setModel] = useState(() => cheapest(models));
  const [question, setQuestion] = useState("");
  const [asks, setAsks] = useState(true);
  const [busy, setBusy] = useState<AbortController>();
  const [problem, setProblem] = useState<string>();
  const [, redraw] = useState(0);
  const needsApproval = useRef(true);
  needsApproval.current = asks;
  // The answer that a call waits for.
  const waiting = useRef<(approved: boolean) => void>(() => {});
  const conversation = useRef<Conversation>(null);
  conversation.current ??= new Conversation(
    () => redraw((times) => times + 1),
    () => (needsApproval.current ? new Promise((resolve) => (waiting.current = resolve)) : Promise.resolve(true)),
  );
  const { turns } = conversation.current;
  useEffect(() => () => busy?.abort(), [busy]);

  // What is new, or waits for the visitor, comes into view.
  const log = useRef<HTMLDivElement>(null);
  const asking = turns.some(({ calls }) => calls.some(({ state }) => state === "asking"));
  useEffect(() => {
    if (turns.length > 0) log.current?.lastElementChild?.scrollIntoView({ block: "end" });
  }, [turns.length, asking, busy, problem]);

  // The name of a provider alone is no model.
  const ready = question.trim() !== "" && model !== "" && !model.endsWith("/");
  const notes = [model.endsWith("/") && "Add the name of one of the provider's models.", withPrice(model, models)].filter(Boolean);
  const ask = async (text = question) => {
    const controller = new AbortController();
    setBusy(controller);
    setProblem(undefined);
    setQuestion("");
    try {
      await conversation.current?.ask(model, text, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) setProblem(error instanceof Error ? error.message : "The model's answer could not be read. Try again.");
    }
    setBusy(undefined);
  };
  return (
    <div class="chat">
      <h1 class="visually-hidden">Chat</h1>
      <div class={turns.length === 0 ? "turns empty" : "turns"} ref={log} role="log" aria-label="Conversation" tabIndex={0}>
        {turns.length === 0 && (
          <>
            <p class="soft">Ask something that needs this server's tools, such as:</p>
            <div class="examples" role="group" aria-label="Example questions">
              {questions(tools, details).map((text) => <button key={text} type="button" class="chip" onClick={() => (model !== "" && !model.endsWith("/") ? void ask(text) : setQuestion(text))}>{text}</button>)}
            </div>
          </>
        )}
        {turns.map((turn, index) => <TurnView key={index} turn={turn} models={models} decide={(approved) => waiting.current(approved)} />)}
        {problem && <p class="failure" role="alert">{problem}</p>}
      </div>
      <form
        class="ask"
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && ready) void ask();
        }}
      >
        <label for="question" class="visually-hidden">Message</label>
        <textarea
          id="question"
          rows={2}
          placeholder="Message"
          value={question}
          onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
        <div class="row">
          <label for="model">Model</label>
          <input id="model" type="text" list="models" aria-describedby={notes.length > 0 ? "model-note" : undefined} autocomplete="off" spellcheck={false} value={model} onInput={({ currentTarget }) => setModel(currentTarget.value)} />
          <datalist id="models">
            {models.map(({ name }) => <option key={name} value={name} />)}
          </datalist>
          <label class="check"><input type="checkbox" checked={asks} onChange={({ currentTarget }) => setAsks(currentTarget.checked)} /> Ask before each call</label>
          {busy ? <button type="button" class="secondary" onClick={() => busy.abort()}>Stop</button> : <button type="submit" aria-disabled={!ready}>Send</button>}
        </div>
        {notes.length > 0 && <p class="note" id="model-note">{notes.join(" ")}</p>}
      </form>
    </div>
  );
}

function TurnView({ turn, models, decide }: { turn: Turn; models: Model[]; decide(approved: boolean): void }) {
  return (
    <article class={`turn ${turn.role}`}>
      <h2 class="visually-hidden">{turn.role === "user" ? "You" : "Model"}</h2>
      {turn.text && (turn.role === "assistant" ? <Answer text={turn.text} /> : <p class="text">{turn.text}</p>)}
      {turn.calls.map((call, index) => <CallCard key={index} call={call} decide={decide} />)}
      {turn.took && <p class="took">{tookText(turn.took, models)}</p>}
    </article>
  );
}

let Markdown: FunctionComponent<{ text: string }> | undefined;

/** An answer, as plain text until what renders Markdown is there. */
function Answer({ text }: { text: string }) {
  const [, setLoaded] = useState(Markdown !== undefined);
  useEffect(() => {
    if (Markdown) return;
    const load = async () => {
      ({ Markdown } = await import("./markdown.tsx"));
      setLoaded(true);
    };
    // If it does not load, the text stays as it is.
    load().catch(() => {});
  }, []);
  return Markdown ? <Markdown text={text} /> : <p class="text">{text}</p>;
}

const STATES: Record<ToolCall["state"], string> = {
  arriving: "…",
  asking: "waiting for your approval",
  running: "running…",
  done: "done",
  failed: "failed",
  rejected: "rejected",
  stopped: "stopped",
};

const pretty = (text: string): string => {
  try {
    return stringify(parse(text), 2);
  } catch {
    return text;
  }
};

function CallCard({ call, decide }: { call: ToolCall; decide(approved: boolean): void }) {
  return (
    <section class="card" aria-label={`Call of ${call.name}`}>
      <header>
        <code>{call.name}</code>
        <span class={`badge ${call.state === "done" ? "good" : ["failed", "rejected", "stopped"].includes(call.state) ? "bad" : ""}`} role="status">
          {STATES[call.state]}{call.duration === undefined ? "" : ` in ${Math.max(1, Math.round(call.duration))} ms`}
        </span>
      </header>
      <pre tabIndex={0} aria-label={`Input of ${call.name}`}>{pretty(call.arguments)}</pre>
      {call.state === "asking" && (
        <div class="row">
          <button type="button" onClick={() => decide(true)}>Run {call.name}</button>
          <button type="button" class="secondary" onClick={() => decide(false)}>Reject</button>
        </div>
      )}
      {call.result !== undefined && <pre tabIndex={0} aria-label={`Result of ${call.name}`}>{pretty(call.result)}</pre>}
    </section>
  );
}
