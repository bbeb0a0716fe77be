// Shows a value: content blocks as what they are, lists of objects as tables, documents of JSON like values, anything else as JSON.
import { ExactNumber, type Json, type JsonObject, isObject, parse, stringify } from "../json.ts";

const BLOCKS = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Whether a value is a list of content blocks. */
function isContent(value: Json): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every((block) => isObject(block) && typeof block["type"] === "string" && BLOCKS.has(block["type"]));
}

const isPlain = (value: Json | undefined): boolean => value === undefined || value === null || typeof value !== "object" || value instanceof ExactNumber;

/** The rows of a table; undefined if the value is not a list of flat objects. */
function rowsOf(value: Json): JsonObject[] | undefined {
  const isTable = Array.isArray(value) && value.length > 0 && value.every((row) => isObject(row) && Object.values(row).every(isPlain));
  return isTable ? (value as JsonObject[]) : undefined;
}

export function Value({ value }: { value: Json }) {
  if (isContent(value)) {
    return (
      <div class="blocks">
        {value.map((block, index) => (
          <Block key={index} block={block} />
        ))}
      </div>
    );
  }
  if (isPlain(value)) return <p class="scalar">{plain(value)}</p>;
  const rows = rowsOf(value);
  if (rows) return <Table rows={rows} />;
  if (isObject(value)) return <Members value={value} />;
  return (
    <pre class="json" tabIndex={0} aria-label="Value as JSON">
      {stringify(value, 2)}
    </pre>
  );
}

const plain = (value: Json | undefined): string => (typeof value === "string" ? value : value === undefined ? "" : stringify(value));

function Members({ value }: { value: JsonObject }) {
  if (Object.keys(value).length === 0) return <p class="scalar">{"{}"}</p>;
  return (
    <dl class="members">
      {Object.entries(value).map(([name, member]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{isPlain(member) ? plain(member) : <Value value={member} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function Table({ rows }: { rows: JsonObject[] }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Table of values">
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name} class={typeof row[name] === "number" ? "number" : undefined}>{plain(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
  return <pre class="json" tabIndex={0} aria-label="Content block as JSON">{stringify(block, 2)}</pre>;
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
