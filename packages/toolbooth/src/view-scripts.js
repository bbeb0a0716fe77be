// Finds what an author's script loads or connects to: only where an address stands as such. Texts with addresses load nothing, and packages
// have many.
import { CONNECT, FRAME, RESOURCE, loadsOfElement, loadsOfStyle } from "./view-loads.js";

/** Classes that load their first argument. */
const CLASSES = { Audio: RESOURCE, EventSource: CONNECT, Request: CONNECT, WebSocket: CONNECT, WebTransport: CONNECT };
const GLOBALS = ["globalThis", "self", "window"];
/** Properties of elements that load something: images, scripts, media or frames. */
const PROPERTIES = ["poster", "src", "srcset"];
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;
/** What may give a name another meaning. */
const DECLARATIONS = ["isBindingElement", "isClassDeclaration", "isFunctionDeclaration", "isImportClause", "isImportSpecifier", "isParameter", "isVariableDeclaration"];
/** The beginning of an address with its whole host. */
const HOST = /^\s*(?:\w+:)?\/\/[^/?#\\]+[/?#\\]/;

/** What the script `text` loads: `{ lists, address, place }` each. `name` is that of its file, for the places. */
export async function loadsOfScript(name, text) {
  // Most scripts have no address, and the compiler takes a while to load.
  if (!/:\/\/|["'`]\/\//.test(text)) return [];
  const { default: ts } = await import("typescript");
  const kind = name.endsWith(".html") ? ts.ScriptKind.JS : undefined;
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, kind);
  const { addressOf, isGlobal, textOf } = values(ts, source);
  const found = [];
  const add = (node, loads) => {
    const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(...loads.map((load) => ({ ...load, place: `${name}:${line + 1}:${character + 1}` })));
  };
  const addAddress = (node, lists, expression) => {
    const address = expression && addressOf(expression);
    if (address !== undefined) add(node, [{ lists, address }]);
  };
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const [first, second] = node.arguments;
      const method = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : undefined;
      const says = (test) => first !== undefined && test(textOf(first).text);
      if (isGlobal(node.expression, "fetch") || method === "sendBeacon") addAddress(node, [CONNECT], first);
      else if (method === "open" && says((text) => METHOD.test(text))) addAddress(node, [CONNECT], second);
      else if (method === "setAttribute" && says((text) => PROPERTIES.includes(text))) addAddress(node, [RESOURCE, FRAME], second);
    } else if (ts.isNewExpression(node)) {
      const [, list] = Object.entries(CLASSES).find(([name]) => isGlobal(node.expression, name)) ?? [];
      if (list) addAddress(node, [list], node.arguments?.[0]);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      if (ts.isPropertyAccessExpression(node.left) && PROPERTIES.includes(node.left.name.text)) addAddress(node, [RESOURCE, FRAME], node.right);
    } else if ((ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) && /^[a-z]/.test(node.tagName.getText(source))) {
      const [attributes, styles] = [new Map(), []];
      for (const { name, initializer } of node.attributes.properties.filter(ts.isJsxAttribute)) {
        const value = initializer && ts.isJsxExpression(initializer) ? initializer.expression : initializer;
        if (value === undefined) continue;
        if (ts.isObjectLiteralExpression(value)) styles.push(...value.properties.filter(ts.isPropertyAssignment).map((property) => textOf(property.initializer).text));
        const text = addressOf(value) ?? textOf(value).text;
        attributes.set(name.getText(source).replace("xlinkHref", "xlink:href").toLowerCase(), text);
      }
      add(node, [...loadsOfElement(node.tagName.getText(source), attributes), ...styles.flatMap(loadsOfStyle)]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Reads the expressions of a script. */
function values(ts, source) {
  // The initializer of each constant that no other name hides, and `null` for all other names.
  const declared = new Map();
  const declare = (node) => {
    if (DECLARATIONS.some((kind) => ts[kind](node)) && node.name !== undefined && ts.isIdentifier(node.name)) {
      const isConstant = ts.isVariableDeclaration(node) && (node.parent.flags & ts.NodeFlags.Const) !== 0 && !declared.has(node.name.text);
      declared.set(node.name.text, (isConstant && node.initializer) || null);
    }
    ts.forEachChild(node, declare);
  };
  declare(source);

  /** Whether an expression is a global name, as such or of the global object. */
  function isGlobal(expression, name) {
    if (ts.isIdentifier(expression)) return expression.text === name && !declared.has(name);
    return ts.isPropertyAccessExpression(expression) && expression.name.text === name && GLOBALS.includes(expression.expression.getText(source));
  }

  /** The text of an expression, or how it begins. `depth` ends constants that refer to themselves. */
  function textOf(expression, depth = 0) {
    const unknown = { text: "", isWhole: false };
    if (depth > 20) return unknown;
    const inner = (node) => textOf(node, depth + 1);
    const joined = (parts) => parts.reduce(({ text, isWhole }, part) => (isWhole ? { ...part, text: text + part.text } : { text, isWhole }));
    if (ts.isStringLiteralLike(expression)) return { text: expression.text, isWhole: true };
    if (ts.isTemplateExpression(expression)) {
      const whole = (text) => ({ text, isWhole: true });
      return joined([whole(expression.head.text), ...expression.templateSpans.flatMap(({ expression, literal }) => [inner(expression), whole(literal.text)])]);
    }
    if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.PlusToken) return joined([inner(expression.left), inner(expression.right)]);
    if (ts.isIdentifier(expression)) return declared.get(expression.text) ? inner(declared.get(expression.text)) : unknown;
    if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression) || ts.isNonNullExpression(expression)) return inner(expression.expression);
    if (ts.isNewExpression(expression) && isGlobal(expression.expression, "URL")) {
      const [path, base] = (expression.arguments ?? []).map(inner);
      return !base || /^\s*(?:\w+:)?\/\//.test(path.text) ? (path ?? unknown) : base;
    }
    return unknown;
  }

  /** The address that an expression is, if its host is known: one that a script puts together may be any of many. */
  function addressOf(expression) {
    const { text, isWhole } = textOf(expression);
    return isWhole || HOST.test(text) ? text : undefined;
  }
  return { addressOf, isGlobal, textOf };
}
