// A model's answer, which is Markdown. Its tokens become elements directly and no HTML is parsed, so there is nothing to
// sanitize: HTML in the answer stays text. Loaded with the first answer.
import { type MarkedToken, type Token, type Tokens, lexer } from "marked";
import type { ComponentChildren } from "preact";
import { Code } from "../parts.tsx";

export function Markdown({ text }: { text: string }) {
  return <div class="prose">{blocks(lexer(text))}</div>;
}

const blocks = (tokens: Token[]): ComponentChildren => tokens.map((token, index) => <Part key={index} token={token as MarkedToken} />);

function Part({ token }: { token: MarkedToken }) {
  switch (token.type) {
    case "heading":
      // The pages have headings of their own.
      return <p class="heading"><strong>{blocks(token.tokens)}</strong></p>;
    case "paragraph":
      return <p>{blocks(token.tokens)}</p>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "code":
      return <Code text={token.text} label="code" />;
    case "hr":
      return <hr />;
    case "list":
      return <List list={token} />;
    case "table":
      return <Table table={token} />;
    case "strong":
      return <strong>{blocks(token.tokens)}</strong>;
    case "em":
      return <em>{blocks(token.tokens)}</em>;
    case "del":
      return <del>{blocks(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link link={token} />;
    case "image":
      // A page of this policy loads no images of others.
      return <>{token.text || token.href}</>;
    case "text":
      return <>{token.tokens ? blocks(token.tokens) : token.text}</>;
    case "escape":
      return <>{token.text}</>;
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "html":
    case "list_item":
    default:
      return <>{token.raw}</>;
  }
}

function List({ list: { ordered, start, items } }: { list: Tokens.List }) {
  const entries = items.map((item, index) => <li key={index}>{item.task && (item.checked ? "☑ " : "☐ ")}{blocks(item.tokens)}</li>);
  return ordered ? <ol start={start === "" ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function Table({ table: { header, rows } }: { table: Tokens.Table }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead><tr>{header.map((cell, index) => <th key={index} scope="col">{blocks(cell.tokens)}</th>)}</tr></thead>
        <tbody>{rows.map((row, at) => <tr key={at}>{row.map((cell, index) => <td key={index}>{blocks(cell.tokens)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** Only web addresses become links: others could run a script. */
function Link({ link: { href, tokens } }: { link: Tokens.Link }) {
  return /^https?:\/\//.test(href) ? <a href={href} rel="noreferrer noopener" target="_blank">{blocks(tokens)}</a> : <>{blocks(tokens)}</>;
}
