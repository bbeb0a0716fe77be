// A form that is generated from a JSON Schema. The libraries that do this are larger than the whole page may be: gzipped,
// react-jsonschema-form with React and its validator is 204 KB, and JSON Editor 105 KB.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ExactNumber, type Json, isEqual, isObject, numberOf, own, parse, stringify } from "../json.ts";
import { type Kind, type Schema, type Variant, fits, initial, kindOf, limits } from "../schema.ts";
import { firstControl, useNextFocus } from "./focus.ts";

/** The messages of the server by the path of the value, such as `order.lines[1].price`. */
export type Errors = Readonly<Record<string, string>>;

interface FieldProps {
  schema: Schema;
  /** The path of the value, as the server's messages write it. */
  path: string;
  name: string;
  required: boolean;
  value: Json | undefined;
  errors: Errors;
  onChange(value: Json | undefined): void;
}

/** The server's message about a value that is missing. */
export const MISSING = "Is required";

/** The path of a member, as the server writes it. */
export const memberPath = (parent: string, name: string): string => {
  const plain = name !== "" && !/[.[\]"\\]/.test(name);
  if (plain) return parent === "" ? name : `${parent}.${name}`;
  return `${parent}[${JSON.stringify(name)}]`;
};

export const idOf = (path: string): string => `field-${path}`;
const groupOf = (path: string): string => `${idOf(path)}-group`;

/** The fields of an object's properties. `path` is that of the object; the input's is empty. */
export function Properties({ kind, path, value, errors, onChange }: { kind: Kind & { is: "object" }; path: string; value: Json | undefined; errors: Errors; onChange(value: Json): void }) {
  const members = isObject(value) ? value : {};
  const set = (name: string, member: Json | undefined) => {
    const { [name]: _, ...others } = members;
    if (member === undefined) return onChange(others);
    // Keeps the order of the schema, so that the body reads like the form.
    const names = kind.properties.map((property) => property.name);
    const all = { ...others, [name]: member };
    const known = names.filter((known) => Object.hasOwn(all, known)).map((known) => [known, all[known] as Json] as const);
    onChange({ ...Object.fromEntries(known), ...Object.fromEntries(Object.entries(all).filter(([key]) => !names.includes(key))) });
  };
  return (
    <>
      {kind.properties.map(({ name, schema, required }) => (
        <Field key={name} schema={schema} path={memberPath(path, name)} name={name} required={required} value={own(members, name)} errors={errors} onChange={(member) => set(name, member)} />
      ))}
      {kind.rest && <Entries schema={kind.rest} known={kind.properties.map(({ name }) => name)} path={path} value={members} errors={errors} onChange={onChange} />}
    </>
  );
}

/** A part of a field that a click replaces, and with it what has the focus. */
interface Replaced extends FieldProps {
  focusNext: ReturnType<typeof useNextFocus>;
}

/** One value with its label. */
function Field(given: FieldProps) {
  const props: Replaced = { ...given, focusNext: useNextFocus() };
  const { schema, required, value } = props;
  const kind = kindOf(schema);
  if (!required && value === undefined && (kind.is === "list" || kind.is === "object" || kind.is === "union")) return <Absent {...props} />;
  switch (kind.is) {
    case "text":
      return <Labelled {...props}>{(described) => <Text {...props} input={kind.input} described={described} />}</Labelled>;
    case "number":
      return <Labelled {...props}>{(described) => <NumberInput {...props} described={described} />}</Labelled>;
    case "boolean":
      return <Labelled {...props}>{(described) => <Choice {...props} values={[true, false]} described={described} />}</Labelled>;
    case "choice":
      return <Labelled {...props}>{(described) => <Choice {...props} values={kind.values} described={described} />}</Labelled>;
    case "constant":
      return <Labelled {...props}>{(described) => <Choice {...props} values={[kind.value]} described={described} />}</Labelled>;
    case "json":
      return <Labelled {...props}>{(described) => <JsonText {...props} described={described} />}</Labelled>;
    case "list":
      return <Group {...props}><List {...props} kind={kind} /></Group>;
    case "object":
      return <Group {...props}><Properties kind={kind} path={props.path} value={value} errors={props.errors} onChange={props.onChange} /></Group>;
    case "union":
      return <Group {...props}><Union {...props} variants={kind.variants} /></Group>;
  }
}

interface Described {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": "true" | undefined;
  "aria-required": "true" | undefined;
  "data-path": string;
}

function Labelled({ schema, path, name, required, errors, children }: FieldProps & { children: (described: Described) => ComponentChildren }) {
  const id = idOf(path);
  const { note, describedBy } = noteOf(schema, id);
  const error = own(errors, path);
  return (
    <div class="field">
      <div class="label">
        <label for={id}>{schema.title ?? name}</label>
        <TypeAndRequired schema={schema} required={required} />
      </div>
      {note}
      {children({
        id,
        "aria-describedby": [describedBy, error && `${id}-error`].filter(Boolean).join(" ") || undefined,
        "aria-invalid": error ? "true" : undefined,
        "aria-required": required ? "true" : undefined,
        "data-path": path,
      })}
      <ErrorText id={id} text={error} />
    </div>
  );
}

/** The fields of a value with several parts. Those of a union report the error themselves. */
function Group({ schema, path, name, required, errors, onChange, focusNext, children }: Replaced & { children: ComponentChildren }) {
  const id = idOf(path);
  const { note, describedBy } = noteOf(schema, id);
  const error = kindOf(schema).is === "union" ? undefined : own(errors, path);
  const remove = () => {
    focusNext(() => document.getElementById(id));
    onChange(undefined);
  };
  return (
    <fieldset class="field group" id={groupOf(path)} tabIndex={-1} data-group={path} aria-describedby={[describedBy, error && `${id}-error`].filter(Boolean).join(" ") || undefined}>
      <legend>
        <span class="label">
          <span>{schema.title ?? name}</span>
          <TypeAndRequired schema={schema} required={required} />
        </span>
      </legend>
      {note}
      {children}
      <ErrorText id={id} text={error} />
      {!required && (
        <button type="button" class="plain" onClick={remove}>
          Remove {name}
        </button>
      )}
    </fieldset>
  );
}

/** An optional value with several parts that has not been added. */
function Absent({ schema, path, name, errors, onChange, focusNext }: Replaced) {
  const id = idOf(path);
  const { note, describedBy } = noteOf(schema, id);
  const error = own(errors, path);
  const add = () => {
    focusNext(() => firstControl(document.getElementById(groupOf(path))));
    onChange(schema.default ?? initial(schema) ?? firstVariant(schema));
  };
  return (
    <div class="field">
      <div class="label">
        <span>{schema.title ?? name}</span>
        <TypeAndRequired schema={schema} required={false} />
      </div>
      {note}
      <button type="button" class="secondary" id={id} data-path={path} data-absent="true" aria-describedby={[describedBy, error && `${id}-error`].filter(Boolean).join(" ") || undefined} onClick={add}>
        Add {name}
      </button>
      <ErrorText id={id} text={error} />
    </div>
  );
}

function firstVariant(schema: Schema): Json {
  const kind = kindOf(schema);
  return (kind.is === "union" && kind.variants[0] && initial(kind.variants[0].schema)) || "";
}

function TypeAndRequired({ schema, required }: { schema: Schema; required: boolean }) {
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type;
  return (
    <span class="marks">
      {type && <span>{schema.format ?? type}</span>}
      {required ? <span class="required">required</span> : null}
    </span>
  );
}

/** The description of a value, with its limits. */
function noteOf(schema: Schema, id: string) {
  const texts = [schema.description, limits(schema)].filter(Boolean);
  if (texts.length === 0) return { note: null, describedBy: undefined };
  const [description, range] = [schema.description, limits(schema)];
  const note = (
    <p class="note" id={`${id}-note`}>
      {description}
      {range && <span class="limits"> {range[0]?.toUpperCase()}{range.slice(1)}.</span>}
    </p>
  );
  return { note, describedBy: `${id}-note` };
}

/** What is wrong with a value, in the words of the server: "Must be a number". */
function ErrorText({ id, text }: { id: string; text: string | undefined }) {
  return text ? <p class="error" id={`${id}-error`}>{text === MISSING ? "Enter a value." : `${text}.`}</p> : null;
}

/** What an empty field means. */
const placeholder = ({ default: value, examples }: Schema): string | undefined => {
  const show = (json: Json) => (typeof json === "string" ? json : stringify(json));
  if (value !== undefined) return `${show(value)} (default)`;
  return examples?.[0] === undefined ? undefined : `such as ${show(examples[0])}`;
};

const INPUT_TYPES = { text: "text", date: "date", time: "text", datetime: "text", email: "email", url: "url" } as const;
const HINTS = { time: "12:30:00Z", datetime: "2026-11-22T12:30:00Z" } as const;

function Text({ schema, value, onChange, input, described }: FieldProps & { input: (Kind & { is: "text" })["input"]; described: Described }) {
  const shared = {
    ...described,
    value: typeof value === "string" ? value : value === undefined || value === null ? "" : stringify(value),
    spellcheck: false,
    autocomplete: "off",
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => onChange(currentTarget.value === "" ? undefined : currentTarget.value),
  };
  if (input === "lines") return <textarea rows={4} placeholder={placeholder(schema)} {...shared} />;
  const hint = input === "time" || input === "datetime" ? HINTS[input] : undefined;
  return <input type={INPUT_TYPES[input] as "text"} placeholder={placeholder(schema) ?? hint} {...shared} />;
}

function NumberInput({ schema, value, onChange, described }: FieldProps & { described: Described }) {
  const text = value === undefined || value === null ? "" : typeof value === "string" ? value : value instanceof ExactNumber ? value.text : stringify(value);
  // Not type=number: it hides text that is no number, and the server's message about it would be wrong.
  return (
    <input
      {...described}
      type="text"
      inputMode={schema.type === "integer" && (schema.minimum ?? -1) >= 0 ? "numeric" : "decimal"}
      autocomplete="off"
      placeholder={placeholder(schema)}
      value={text}
      onInput={({ currentTarget }) => onChange(currentTarget.value === "" ? undefined : (numberOf(currentTarget.value) ?? currentTarget.value))}
    />
  );
}

function Choice({ schema, required, value, values, onChange, described }: FieldProps & { values: Json[]; described: Described }) {
  const chosen = values.findIndex((choice) => isEqual(choice, value));
  const show = (choice: Json) => (typeof choice === "string" ? choice : choice === null ? "null" : stringify(choice));
  return (
    <select {...described} value={String(chosen)} onChange={({ currentTarget }) => onChange(values[Number(currentTarget.value)])}>
      {(!required || chosen === -1) && <option value="-1">{schema.default === undefined ? (required ? "Choose…" : "Not set") : `${show(schema.default)} (default)`}</option>}
      {values.map((choice, index) => (
        <option key={index} value={String(index)}>{show(choice)}</option>
      ))}
    </select>
  );
}

/** A value of any form, as JSON. What is not JSON is a string. */
function JsonText({ value, onChange, described }: FieldProps & { described: Described }) {
  const [text, setText] = useState(value === undefined ? "" : stringify(value, 2));
  const read = (written: string) => {
    setText(written);
    if (written.trim() === "") return onChange(undefined);
    try {
      onChange(parse(written));
    } catch {
      onChange(written);
    }
  };
  return <textarea {...described} class="code" rows={3} spellcheck={false} placeholder="JSON" value={text} onInput={({ currentTarget }) => read(currentTarget.value)} />;
}

/** The last key of an item of any list. */
let lastKey = 0;

function List({ schema, kind, path, name, value, errors, onChange }: FieldProps & { kind: Kind & { is: "list" } }) {
  const items = Array.isArray(value) ? value : [];
  const schemaAt = (index: number) => kind.first[index] ?? kind.rest ?? {};
  const replace = (index: number, item: Json | undefined) => onChange(items.map((old, at) => (at === index ? (item ?? emptyOf(schemaAt(index))) : old)));
  // A key for each item that stays the same when one before it is removed: fields have a state of their own.
  const keys = useRef<number[]>([]);
  while (keys.current.length < items.length) keys.current.push((lastKey += 1));
  const list = useRef<HTMLDivElement>(null);
  const focusNext = useNextFocus();
  const add = () => {
    focusNext(() => firstControl(list.current?.children[items.length]));
    onChange([...items, initial(schemaAt(items.length)) ?? emptyOf(schemaAt(items.length))]);
  };
  const remove = (index: number) => {
    keys.current = keys.current.filter((_, at) => at !== index);
    // The button of the item that takes its place, or the one that adds an item.
    focusNext(() => {
      const buttons = [...(list.current?.querySelectorAll<HTMLElement>(":scope > button, :scope > .item > button") ?? [])];
      return buttons[index] ?? buttons.at(-1) ?? null;
    });
    onChange(items.filter((_, at) => at !== index));
  };
  const full = items.length >= (schema.maxItems ?? Infinity) || (kind.rest === undefined && items.length >= kind.first.length);
  return (
    <div class="items" ref={list}>
      {items.map((item, index) => (
        <div class="item" key={keys.current[index]}>
          <Field schema={{ ...schemaAt(index), title: schemaAt(index).title ?? `${index + 1}` }} path={`${path}[${index}]`} name={`${name} ${index + 1}`} required value={isEmpty(item, schemaAt(index)) ? undefined : item} errors={errors} onChange={(changed) => replace(index, changed)} />
          <button type="button" class="plain" aria-label={`Remove ${name} ${index + 1}`} onClick={() => remove(index)}>
            Remove
          </button>
        </div>
      ))}
      {!full && (
        <button type="button" class="secondary" data-add={path} onClick={add}>
          Add {items.length === 0 ? "an item" : "another item"}
        </button>
      )}
    </div>
  );
}

/** What an item is before it is filled in: a list has no absent items. */
const emptyOf = (schema: Schema): Json => (kindOf(schema).is === "text" ? "" : null);
const isEmpty = (item: Json, schema: Schema): boolean => item === null && !fits(schema, null);

/** Members that the schema does not name. */
function Entries({ schema, known, path, value, errors, onChange }: { schema: Schema; known: string[]; path: string; value: Record<string, Json>; errors: Errors; onChange(value: Json): void }) {
  const [name, setName] = useState("");
  const focusNext = useNextFocus();
  const others = Object.keys(value).filter((key) => !known.includes(key));
  const add = () => {
    if (name === "" || Object.hasOwn(value, name)) return;
    onChange({ ...value, [name]: initial(schema) ?? emptyOf(schema) });
    setName("");
  };
  const id = `${idOf(path)}-new`;
  return (
    <>
      {others.map((key) => (
        <Field
          key={key}
          schema={schema}
          path={memberPath(path, key)}
          name={key}
          required={false}
          value={own(value, key)}
          errors={errors}
          onChange={(member) => {
            if (member === undefined) focusNext(() => document.getElementById(id));
            const { [key]: _, ...rest } = value;
            onChange(member === undefined ? rest : { ...value, [key]: member });
          }}
        />
      ))}
      <div class="field adding">
        <label for={id}>Name of the new property</label>
        <div class="row">
          <input id={id} type="text" autocomplete="off" value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
          <button type="button" class="secondary" onClick={add}>Add</button>
        </div>
      </div>
    </>
  );
}

function Union({ path, name, value, errors, variants, onChange }: FieldProps & { variants: Variant[] }) {
  const fitting = value === undefined ? -1 : variants.findIndex(({ schema }) => fits(schema, value));
  const [chosen, setChosen] = useState(Math.max(fitting, 0));
  // What is being typed may not fit yet. A value that fits another variant was not typed here.
  const index = fitting === -1 || (variants[chosen] && value !== undefined && fits(variants[chosen].schema, value)) ? chosen : fitting;
  const variant = variants[index];
  if (!variant) return null;
  const id = `${idOf(path)}-variant`;
  const { title: _, description: __, ...schema } = variant.schema;
  const constant = kindOf(schema).is === "constant";
  return (
    <>
      <div class="field">
        <label for={id}>Type of {name}</label>
        <select
          id={id}
          value={String(index)}
          onChange={({ currentTarget }) => {
            const next = Number(currentTarget.value);
            setChosen(next);
            const nextSchema = variants[next]?.schema ?? {};
            const start = initial(nextSchema);
            onChange(start === undefined && kindOf(nextSchema).is === "text" ? "" : start);
          }}
        >
          {variants.map(({ label }, at) => (
            <option key={at} value={String(at)}>{label}</option>
          ))}
        </select>
      </div>
      {!constant && <UnionValue schema={schema} path={path} name={name} value={value} errors={errors} onChange={onChange} />}
    </>
  );
}

/** The value of a variant. */
function UnionValue(props: Omit<FieldProps, "required">) {
  const { schema, path, value, errors, onChange } = props;
  const kind = kindOf(schema);
  const error = <ErrorText id={idOf(path)} text={own(errors, path)} />;
  if (kind.is === "object") return <><Properties kind={kind} path={path} value={value} errors={errors} onChange={onChange} />{error}</>;
  if (kind.is === "list") return <><List {...props} required kind={kind} />{error}</>;
  return <Field {...props} schema={{ ...schema, title: "Value" }} required />;
}
