// The types of the providers' SDKs as data, from their declarations, with which requests and answers are checked.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PACKAGES = ["openai", "@anthropic-ai/sdk", "@google/genai", "typescript"];
// Google's SDK writes the request itself: this is the body that its reference shows, of the SDK's own types.
const SOURCE = `
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type { Content, GenerateContentResponse, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
interface GenerateContentRequest {
  contents: Content[]; tools?: Tool[]; toolConfig?: ToolConfig; systemInstruction?: Content; generationConfig?: GenerationConfig;
  safetySettings?: SafetySetting[]; cachedContent?: string; labels?: Record<string, string>; model?: string; serviceTier?: string; store?: boolean;
}
export interface Roots {
  "chat request": OpenAI.ChatCompletionCreateParams;
  "chat answer": OpenAI.ChatCompletion;
  "chat event": OpenAI.ChatCompletionChunk;
  "responses request": OpenAI.Responses.ResponseCreateParams;
  "responses answer": OpenAI.Responses.Response;
  "responses event": OpenAI.Responses.ResponseStreamEvent;
  "messages request": Anthropic.MessageCreateParams;
  "messages request of betas": Anthropic.Beta.MessageCreateParams;
  "messages answer": Anthropic.Message;
  "messages event": Anthropic.MessageStreamEvent;
  "messages answer of betas": Anthropic.Beta.BetaMessage;
  "messages event of betas": Anthropic.Beta.BetaRawMessageStreamEvent;
  "gemini request": GenerateContentRequest;
  "gemini answer": GenerateContentResponse;
}
`;

/** The types, by the names in \`Roots\`: \`{ roots, shapes }\`, in which a number is a place in \`shapes\`. Kept in target/types. */
export async function types() {
  const require = createRequire(import.meta.url);
  const versions = PACKAGES.map((name) => JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"))).version);
  const key = createHash("sha256").update(JSON.stringify([versions, SOURCE, readFileSync(new URL(import.meta.url), "utf8")])).digest("hex").slice(0, 16);
  const folder = join(ROOT, "target/types");
  const file = join(folder, `${key}.json`);
  try {
    return JSON.parse(readFileSync(file));
  } catch {
    const compiled = compile(require("typescript"));
    mkdirSync(folder, { recursive: true });
    // Several files of tests may get here at once.
    const own = join(folder, `${key}.${process.pid}`);
    writeFileSync(own, JSON.stringify(compiled));
    renameSync(own, file);
    return compiled;
  }
}

function compile(ts) {
  const entry = join(ROOT, "types-of-sdks.mts");
  const options = { strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  Object.assign(host, {
    getSourceFile: (name, ...rest) => (name === entry ? ts.createSourceFile(name, SOURCE, options.target) : getSourceFile.call(host, name, ...rest)),
    fileExists: (name) => name === entry || fileExists.call(host, name),
    readFile: (name) => (name === entry ? SOURCE : readFile.call(host, name)),
  });
  const program = ts.createProgram([entry], options, host);
  const problems = program.getSemanticDiagnostics(program.getSourceFile(entry));
  if (problems.length > 0) throw new Error(ts.formatDiagnostics(problems, { ...host, getNewLine: () => "\n", getCurrentDirectory: () => ROOT, getCanonicalFileName: (name) => name }));
  return read(ts, program.getTypeChecker(), program.getSourceFile(entry));
}

function read(ts, checker, file) {
  const { TypeFlags: Flag } = ts;
  const shapes = [];
  const known = new Map();

  /** The place of a type's shape. Types may contain themselves. */
  const shape = (type) => {
    if (!known.has(type)) {
      known.set(type, shapes.length);
      shapes.push(undefined);
      shapes[known.get(type)] = shapeOf(type);
    }
    return known.get(type);
  };
  const shapeOf = (type) => {
    const { flags } = type;
    if (flags & (Flag.Any | Flag.Unknown)) return { any: true };
    if (flags & Flag.Null) return { value: null };
    if (flags & Flag.BooleanLiteral) return { value: type.intrinsicName === "true" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { value: type.value };
    if (flags & (Flag.String | Flag.TemplateLiteral)) return { type: "string" };
    if (flags & Flag.Number) return { type: "number" };
    if (flags & Flag.Boolean) return { type: "boolean" };
    if (flags & (Flag.Undefined | Flag.Void | Flag.Never)) return { never: true };
    if (type.isUnion()) return { union: type.types.filter((one) => !(one.flags & Flag.Undefined)).map(shape) };
    // "string & {}" keeps editors from hiding the literals beside it.
    if (type.isIntersection()) {
      const text = type.types.find((one) => one.flags & Flag.String);
      if (text) return { type: "string" };
    }
    if (checker.isArrayType(type) || checker.isTupleType(type)) return { items: checker.getTypeArguments(type).map(shape) };
    if (checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0) return { any: true };
    const members = {};
    for (const symbol of checker.getPropertiesOfType(type)) {
      const own = checker.getTypeOfSymbol(symbol);
      if (checker.getSignaturesOfType(own, ts.SignatureKind.Call).length > 0) continue;
      // Getters of classes are no members of their JSON.
      if (symbol.flags & ts.SymbolFlags.Accessor) continue;
      const isOptional = Boolean(symbol.flags & ts.SymbolFlags.Optional) || Boolean(own.flags & Flag.Undefined);
      members[symbol.name] = [shape(own), isOptional];
    }
    const index = checker.getIndexInfosOfType(type).find(({ keyType }) => keyType.flags & Flag.String);
    return { name: checker.typeToString(type), members, ...(index && { others: shape(index.type) }) };
  };

  const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(file)).find(({ name }) => name === "Roots");
  const roots = {};
  for (const root of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))) roots[root.name] = shape(checker.getTypeOfSymbol(root));
  return { roots, shapes };
}
