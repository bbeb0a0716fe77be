// Shows a value: content blocks as what they are, lists of objects as tables, documents of JSON like values, anything else as JSON.
import { ExactNumber, type Json, type JsonObject, isObject, own, parse, stringify } from "../json.ts";
import { type TableOf, isPlain, isTooLarge, lineOf, tableOf } from "./shape.ts";

const BLOCKS = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Whether a value is a list of content blocks. */
function isContent(value: Json): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((block) => isObject(block) && typeof block["type"] === "string" && BLOCKS.has(block["type"]));
}

/** A value of any size. */
export function Value({ value }: { value: Json }) {
  if (isPlain(value)) return <Scalar value={value} />;
  const table = tableOf(value);
  if (table && !isContent(value)) return <Table {...table} />;
  return isTooLarge(value) ? <JsonOf value={value} label="Value as JSON" /> : <Parts value={value} />;
}

/** A value with few enough parts. */
function Parts({ value }: { value: Json }) {
  if (isContent(value)) {
    return (
      <div class="blocks">
        {value.map((block, index) => (
          <Block key={index} block={block} />
        ))}
      </div>
    );
  }
  const table = tableOf(value);
  if (table) return <Table {...table} />;
  const line = lineOf(value);
  if (line !== undefined) return <code class="line">{line}</code>;
  return isObject(value) ? <Members value={value} /> : <JsonOf value={value} label="Value as JSON" />;
}

function JsonOf({ value, label }: { value: Json; label: string }) {
  return <pre class="json" tabIndex={0} aria-label={label}>{stringify(value, 2)}</pre>;
}

const plain = (value: Json | undefined): string => (typeof value === "string" ? value : value === undefined ? "" : stringify(value));

/** Text of more characters is not large, and needs the whole width. */
const SHORT = 100;

function Scalar({ value }: { value: Json }) {
  if (value === "") return <p class="soft">Empty text</p>;
  return <p class={plain(value).length <= SHORT ? "scalar" : "text"}>{plain(value)}</p>;
}

function Members({ value }: { value: JsonObject }) {
  if (Object.keys(value).length === 0) return <p class="scalar">{"{}"}</p>;
  return (
    <dl class="members">
      {Object.entries(value).map(([name, member]) => (
        <div key={name} class={plain(member).length > SHORT ? "long" : undefined}>
          <dt>{name}</dt>
          <dd>{member === "" ? <span class="soft">empty</span> : isPlain(member) ? plain(member) : <Parts value={member} />}</dd>
        </div>
      ))}
    </dl>
  );
}

const isNumber = (value: Json | undefined): boolean => typeof value === "number" || value instanceof ExactNumber;

function Table({ names, rows, total }: TableOf) {
  const table = (
    <div class="table" tabIndex={0} role="region" aria-label="Table of values">
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col" class={rows.some((row) => isNumber(own(row, name))) ? "number" : undefined}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name} class={isNumber(own(row, name)) ? "number" : undefined}>{lineOf(own(row, name)) ?? plain(own(row, name))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (rows.length === total) return table;
  return <>{table}<p class="soft">The first {rows.length} of {total} rows. The response has all of them.</p></>;
}

// Media types that a browser shows without running anything. SVG as an image runs no scripts.
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const AUDIO = /^audio\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function Block({ block }: { block: JsonObject }) {
  const [data, mimeType] = [text(block["data"]), text(block["mimeType"])];
  switch (block["type"]) {
    case "image":
      if (IMAGES.test(mimeType) && BASE64.test(data)) return <figure><img src={`data:${mimeType};base64,${data}`} alt="Image that the tool returned" /><figcaption>{mimeType}</figcaption></figure>;
      break;
    case "audio":
      if (AUDIO.test(mimeType) && BASE64.test(data)) return <figure><audio controls src={`data:${mimeType};base64,${data}`} /><figcaption>{mimeType}</figcaption></figure>;
      break;
    case "resource":
      if (isObject(block["resource"])) return <Document resource={block["resource"]} />;
      break;
    case "resource_link":
      return <Link uri={text(block["uri"])} name={text(block["name"])} description={text(block["description"])} />;
    default:
      return <p class="text">{text(block["text"])}</p>;
  }
  return <JsonOf value={block} label="Content block as JSON" />;
}

function Document({ resource }: { resource: JsonObject }) {
  const [uri, mimeType, blob] = [text(resource["uri"]), text(resource["mimeType"]) || "application/octet-stream", text(resource["blob"])];
  const name = uri.split("/").at(-1) || "document";
  const isImage = IMAGES.test(mimeType) && blob !== "" && BASE64.test(blob);
  return (
    <article class="document">
      <header>
        <strong>{name}</strong> <span class="soft">{mimeType}</span>
      </header>
      {typeof resource["text"] === "string" && <DocumentText text={resource["text"]} isJson={/[/+]json$/.test(mimeType)} name={name} />}
      {isImage && <img src={`data:${mimeType};base64,${blob}`} alt={name} />}
      {blob !== "" && BASE64.test(blob) && (
        <a download={name} href={`data:application/octet-stream;base64,${blob}`}>
          Download
        </a>
      )}
    </article>
  );
}

/** JSON is shown like a tool's value, and so a list of objects as a table. */
function DocumentText({ text, isJson, name }: { text: string; isJson: boolean; name: string }) {
  if (isJson) {
    try {
      return <Value value={parse(text)} />;
    } catch {
      // It is shown as it is.
    }
  }
  return <pre tabIndex={0} aria-label={name}>{text}</pre>;
}

/** Only web addresses become links: others could run a script. */
function Link({ uri, name, description }: { uri: string; name: string; description: string }) {
  return (
    <p class="text">
      {/^https?:\/\//.test(uri) ? <a href={uri} rel="noreferrer noopener" target="_blank">{name || uri}</a> : <strong>{name}</strong>}
      {description && <> {description}</>}
      {!/^https?:\/\//.test(uri) && <code> {uri}</code>}
    </p>
  );
}
