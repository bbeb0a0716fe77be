// The security of an operation as credentials of a tool: a user's token, or secrets of the operator.
import { child, isObject, items, members, own, Unsupported } from "./nodes.js";
import { variableOf } from "./names.js";
import { isHeader } from "./parameters.js";
import * as swagger from "./swagger.js";

/** Which scheme is chosen if an operation accepts several: the user's own authorization comes first. */
const ORDER = ["provider", "bearer", "header", "basic", "query"];
/** What an operation without security gets from `--auth`. */
const BEARER = { in: "header", name: "Authorization", scheme: "Bearer" };

/** The part of a request that has the credentials of a scheme. */
const placeOf = ({ kind, field }) => (["header", "query"].includes(kind) ? `the ${kind} ${kind === "header" ? field.toLowerCase() : field}` : "the header authorization");

/** The credentials of a document's operations. `auth`: what `--auth` says, `{ provider }`, `{ secret }` or undefined. */
export class Credentials {
  /** The variables of the operator: name to `{ kind }`. */
  variables = new Map();
  /** The providers that users authorize: id to `{ authorizeUrl, tokenUrl, issuer, scopes }`. */
  providers = new Map();
  #schemes = new Map();
  #secrets = new Map();

  constructor(documents, toolkit, auth) {
    this.documents = documents;
    this.toolkit = toolkit;
    this.provider = auth?.provider ?? toolkit.toLowerCase();
    this.auth = auth;
    const all = documents.isSwagger ? child(documents.root, "securityDefinitions") : child(child(documents.root, "components"), "securitySchemes");
    for (const [name, node] of members(all)) this.#schemes.set(name, this.#scheme(name, node));
  }

  /** `{ auth, requirements }` of an operation, without those that it does not need. Fails if none of its alternatives is supported. */
  of({ node }) {
    const own_ = child(node, "security");
    const security = own_.value === undefined ? child(this.documents.root, "security") : own_;
    if (!Array.isArray(security.value)) return this.#without();
    const alternatives = items(security).map((one) => this.#alternative(one));
    const rank = ({ schemes }) => Math.min(...schemes.map(({ kind }) => ORDER.indexOf(kind)));
    // The sort is stable: of those with the same best kind, the one with fewer credentials, then the first.
    const usable = alternatives.filter(({ schemes }) => schemes).sort((one, other) => rank(one) - rank(other) || one.schemes.length - other.schemes.length);
    if (usable.length > 0) return this.#all(usable[0].schemes);
    // An empty list, or an empty alternative, allows anonymous calls.
    if (alternatives.length === 0 || alternatives.some((one) => one.isAnonymous)) return {};
    throw alternatives[0].problem;
  }

  #without() {
    if (this.auth?.provider) return this.#use({ kind: "provider", scopes: [] });
    return this.auth?.secret ? this.#use({ kind: "bearer", secret: this.auth.secret }) : {};
  }

  #alternative(node) {
    const names = isObject(node.value) ? Object.keys(node.value) : [];
    if (names.length === 0) return { isAnonymous: isObject(node.value), problem: this.documents.unsupported(node, "is not a security requirement") };
    const unknown = names.find((name) => !this.#schemes.has(name));
    if (unknown !== undefined) return { problem: this.documents.unsupported(node, `names the security scheme ${JSON.stringify(unknown)}, which the document does not have`) };
    const schemes = names.map((name) => this.#schemes.get(name));
    const wrong = schemes.find(({ problem }) => problem);
    if (wrong) return wrong;
    // Google lists a flow of OAuth 2 as a scheme of its own: one token has the scopes of all.
    const [provider] = schemes.filter(({ kind }) => kind === "provider");
    const scopes = names.filter((name) => this.#schemes.get(name).kind === "provider").flatMap((name) => items(child(node, name))).map(({ value }) => value).filter((value) => typeof value === "string");
    const all = [...(provider ? [{ ...provider, scopes: [...new Set(scopes)] }] : []), ...schemes.filter(({ kind }) => kind !== "provider")];
    const places = all.map(placeOf);
    const twice = places.find((place, at) => places.indexOf(place) < at);
    if (twice) return { problem: this.documents.unsupported(node, `needs several credentials in ${twice} (${names.join(", ")}), which is not possible`) };
    return { schemes: all };
  }

  /** The credentials of all these schemes together. */
  #all(schemes) {
    const used = schemes.map((scheme) => this.#use(scheme));
    const auth = used.map((one) => one.auth);
    const requirements = used.find((one) => one.requirements)?.requirements;
    return { auth: auth.length === 1 ? auth[0] : auth, ...(requirements && { requirements }) };
  }

  #scheme(name, node) {
    let target;
    try {
      target = this.documents.follow(node);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return { problem: error };
    }
    const value = this.documents.isSwagger ? swagger.securityScheme(target.value) : target.value;
    const type = own(value, "type");
    if (type === "oauth2" || type === "openIdConnect") return { kind: "provider", name, value };
    if (type === "http" && /^bearer$/i.test(value.scheme)) return { kind: "bearer", name };
    if (type === "http" && /^basic$/i.test(value.scheme)) return { kind: "basic", name };
    const isName = typeof value?.name === "string" && value.name !== "" && (value.in === "query" || /^authorization$/i.test(value.name) || isHeader(value.name));
    if (type === "apiKey" && ["header", "query"].includes(value.in) && isName) return { kind: value.in, name, field: value.name };
    const kind = type === "apiKey" ? `apiKey in ${value.in}` : type === "http" ? `http ${value.scheme}` : String(type);
    return { problem: this.documents.unsupported(target, `security of the kind ${kind} is not supported`) };
  }

  #use(chosen) {
    if (chosen.kind === "provider") return this.#authorization(chosen);
    if (chosen.kind === "basic") {
      const [user, password] = ["USER", "PASSWORD"].map((suffix) => variableOf(this.toolkit, suffix));
      this.variables.set(user, { kind: "text" }).set(password, { kind: "secret" });
      return { auth: { basic: { user, password } } };
    }
    const secret = chosen.secret ?? this.#secret(chosen);
    this.variables.set(secret, { kind: "secret" });
    return { auth: { secret, ...(chosen.kind === "bearer" ? BEARER : { in: chosen.kind, name: chosen.field }) } };
  }

  /** The name of a scheme's secret. A second scheme of a kind has its own. */
  #secret({ kind, name }) {
    const wanted = this.auth?.secret ?? variableOf(this.toolkit, kind === "bearer" ? "TOKEN" : "API_KEY");
    const owner = this.#secrets.get(wanted) ?? name;
    this.#secrets.set(wanted, owner);
    return owner === name ? wanted : variableOf(this.toolkit, name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[^A-Za-z0-9]+/g, "_").toUpperCase().slice(0, 40));
  }

  #authorization({ value, scopes }) {
    const known = this.providers.get(this.provider) ?? { scopes: new Set() };
    const flows = Object.values(own(value, "flows") ?? {}).filter(isObject);
    const flow = own(own(value, "flows"), "authorizationCode") ?? flows[0];
    // An address of the same host does not say which host that is.
    const url = (name) => (URL.canParse(own(flow, name)) ? flow[name] : undefined);
    const issuer = typeof own(value, "openIdConnectUrl") === "string" ? value.openIdConnectUrl.replace(/\/\.well-known\/openid-configuration$/, "") : undefined;
    for (const scope of scopes) known.scopes.add(scope);
    this.providers.set(this.provider, { authorizeUrl: url("authorizationUrl"), tokenUrl: url("tokenUrl"), issuer, ...known });
    const oauth2 = scopes.length > 0 ? { oauth2: { scopes } } : {};
    return { auth: { provider: this.provider, scheme: "Bearer" }, requirements: { authorization: [{ id: this.provider, ...oauth2 }] } };
  }
}
