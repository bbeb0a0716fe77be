// The security of an operation as credentials of a tool: a user's token, secrets of the operator, or a grant of the server.
import { child, isObject, items, members, own, Unsupported } from "./nodes.js";
import { variableOf } from "./names.js";
import { isHeader, isToken } from "./parameters.js";
import * as swagger from "./swagger.js";

/** Which scheme is chosen if an operation accepts several: the user's own authorization comes first. */
const ORDER = ["provider", "bearer", "header", "client", "basic", "password", "query", "cookie"];
/** The kinds of a key: they have one secret. */
const KEYS = ["bearer", "header", "query", "cookie"];
/** What an operation without security gets from `--auth`. */
const BEARER = { in: "header", name: "Authorization", scheme: "Bearer" };

/** The part of a request that has the credentials of a scheme. */
const placeOf = ({ kind, field }) => (field === undefined ? "the header authorization" : `the ${kind} ${kind === "header" ? field.toLowerCase() : field}`);

/** The credentials of a document's operations. `auth`: what `--auth` says, `{ provider }`, `{ secret }` or undefined. */
export class Credentials {
  /** The variables of the operator: name to `{ kind, default }`. */
  variables = new Map();
  /** The providers that users authorize: id to `{ authorizeUrl, tokenUrl, issuer, scopes }`. */
  providers = new Map();
  #schemes = new Map();
  #secrets = new Map();

  constructor({ documents, notes, servers }, toolkit, auth) {
    this.documents = documents;
    this.notes = notes;
    this.servers = servers;
    this.toolkit = toolkit;
    this.provider = auth?.provider ?? toolkit.toLowerCase();
    this.auth = auth;
    const all = documents.isSwagger ? child(documents.root, "securityDefinitions") : child(child(documents.root, "components"), "securitySchemes");
    for (const [name, node] of members(all)) this.#schemes.set(name, this.#scheme(name, node));
  }

  /**
   * `{ auth, isOptional, requirements }` of an operation, without those that it does not need. Fails if none of its alternatives is
   * supported.
   */
  of({ node }) {
    const own_ = child(node, "security");
    const security = own_.value === undefined ? child(this.documents.root, "security") : own_;
    if (!Array.isArray(security.value)) return this.#without();
    const alternatives = items(security).map((one) => this.#alternative(one));
    const usable = alternatives.filter(({ schemes }) => schemes);
    // An empty list, or an empty alternative, allows anonymous calls.
    const isAnonymous = alternatives.length === 0 || alternatives.some((one) => one.isAnonymous);
    if (usable.length === 0 && isAnonymous) return {};
    if (usable.length === 0) throw alternatives[0].problem;
    const isMeant = ({ schemes }) => (this.auth?.secret ? schemes.some(({ kind }) => KEYS.includes(kind)) && !schemes.some(({ kind }) => kind === "provider") : schemes.some(({ kind }) => kind === "provider"));
    const meant = this.auth ? usable.filter(isMeant) : usable;
    if (meant.length === 0) {
      const [what, lacks] = this.auth.secret ? [`secret:${this.auth.secret}`, "a key"] : [`provider:${this.auth.provider}`, "the token of a user"];
      this.notes.add(this.documents.place(security), `--auth ${what} does not apply, because none of the alternatives is ${lacks}`);
    }
    // A provider without a token endpoint is left for operators who know it.
    const rank = ({ schemes }) => Math.min(...schemes.map(({ kind, isIncomplete }) => (isIncomplete ? ORDER.length : ORDER.indexOf(kind))));
    // The sort is stable: of those with the same best kind, the one with fewer credentials, then the first.
    const [chosen] = (meant.length > 0 ? meant : usable).sort((one, other) => rank(one) - rank(other) || one.schemes.length - other.schemes.length);
    if (chosen.doubled) this.notes.add(chosen.doubled.place, chosen.doubled.reason);
    return { ...this.#all(chosen.schemes), ...(isAnonymous && { isOptional: true }) };
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
    const all = [];
    for (const [at, scheme] of schemes.entries()) {
      const scopes = items(child(node, names[at])).map(({ value }) => value).filter((value) => typeof value === "string");
      const same = scheme.kind === "provider" && all.find(({ kind }) => kind === "provider");
      if (same) Object.assign(same, same.isIncomplete && scheme, { scopes: [...new Set([...same.scopes, ...scopes])] });
      // Two schemes that are the same parameter are one.
      else if (!all.some((other) => other.kind === scheme.kind && placeOf(other) === placeOf(scheme))) all.push({ ...scheme, scopes });
    }
    all.sort((one, other) => (one.kind === "provider" ? -1 : 0) - (other.kind === "provider" ? -1 : 0));
    const places = all.map(placeOf);
    const twice = places.find((place, at) => places.indexOf(place) < at);
    if (!twice) return { schemes: all };
    // A part of a request has one of them only, so that the others cannot be needed.
    const best = (place) => all.filter((one) => placeOf(one) === place).sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))[0];
    const reason = `needs several credentials in ${twice} (${names.join(", ")}), which can have one: only the first that is supported is sent`;
    return { schemes: all.filter((one) => best(placeOf(one)) === one), doubled: { place: this.documents.place(node), reason } };
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
    if (type === "oauth2") return this.#oauth2(name, value, target);
    if (type === "openIdConnect") return { kind: "provider", name, value };
    if (type === "http" && /^bearer$/i.test(value.scheme)) return { kind: "bearer", name };
    if (type === "http" && /^basic$/i.test(value.scheme)) return { kind: "basic", name };
    const isName = typeof value?.name === "string" && value.name !== "";
    const fits = { query: () => true, header: (field) => /^authorization$/i.test(field) || isHeader(field), cookie: isToken };
    if (type === "apiKey" && isName && Object.hasOwn(fits, String(value.in)) && fits[value.in](value.name)) return { kind: value.in, name, field: value.name };
    const kind = type === "apiKey" ? `apiKey in ${value.in}` : type === "http" ? `http ${value.scheme}` : String(type);
    return { problem: this.documents.unsupported(target, `security of the kind ${kind} is not supported`) };
  }

  /** A scheme of OAuth 2: the user's own token if a flow has a page for users, otherwise the server's own grant. */
  #oauth2(name, value, target) {
    const all = own(value, "flows");
    const has = (flow) => isObject(own(all, flow));
    const known = ["authorizationCode", "implicit", "clientCredentials", "password"].find(has);
    // With `--auth provider:…`, users authorize the tools whatever the document says.
    if (this.auth?.provider || known === "authorizationCode" || known === "implicit") return { kind: "provider", name, value, isIncomplete: known === "implicit" };
    if (known) return { kind: known === "password" ? "password" : "client", name, value, flow: all[known] };
    const others = Object.keys(isObject(all) ? all : {}).filter(has);
    if (others.length === 0) return { kind: "provider", name, value };
    return { problem: this.documents.unsupported(target, `security of the kind oauth2 with the flow ${others.join(", ")} is not supported`) };
  }

  #use(chosen) {
    if (chosen.kind === "provider") return this.#authorization(chosen);
    if (chosen.flow) return this.#grant(chosen);
    if (chosen.kind === "basic") {
      const [user, password] = ["USER", "PASSWORD"].map((suffix) => variableOf(this.toolkit, suffix));
      this.variables.set(user, { kind: "text" }).set(password, { kind: "secret" });
      return { auth: { basic: { user, password } } };
    }
    const secret = chosen.secret ?? this.#secret(chosen);
    this.variables.set(secret, { kind: "secret" });
    return { auth: { secret, ...(chosen.kind === "bearer" ? BEARER : { in: chosen.kind, name: chosen.field }) } };
  }

  /** The server's own grant: that of its client, or of a user's password. */
  #grant({ kind, name, flow, scopes }) {
    const variable = (suffix, value) => {
      const variableName = this.#variable(variableOf(this.toolkit, suffix), name, suffix);
      this.variables.set(variableName, value);
      return variableName;
    };
    const tokenUrl = this.servers.endpoint(own(flow, "tokenUrl"));
    const token_url = variable("TOKEN_URL", { kind: "url", ...(tokenUrl && { default: tokenUrl }) });
    const isUser = kind === "password";
    const user = isUser && { username: variable("OAUTH_USER", { kind: "text" }), password: variable("OAUTH_PASSWORD", { kind: "secret" }) };
    // A server that knows users need not know clients.
    const optional = isUser && { optional: true };
    const client = { client_id: variable("CLIENT_ID", { kind: "text", ...optional }), client_secret: variable("CLIENT_SECRET", { kind: "secret", ...optional }) };
    // Names that are no scopes say what the document means by them.
    const valid = scopes.filter((scope) => /^[!#-[\]-~]+$/.test(scope));
    return { auth: { oauth2: { token_url, ...client, ...user, ...(valid.length > 0 && { scopes: valid }) } } };
  }

  /** The name of a scheme's secret. A second scheme of a kind has its own. */
  #secret({ kind, name }) {
    return this.#variable(this.auth?.secret ?? variableOf(this.toolkit, kind === "bearer" ? "TOKEN" : "API_KEY"), name, "");
  }

  /** The name of a variable of a scheme: the wanted one, unless it belongs to a different scheme. */
  #variable(wanted, name, suffix) {
    const owner = this.#secrets.get(wanted) ?? name;
    this.#secrets.set(wanted, owner);
    if (owner === name) return wanted;
    const own_ = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[^A-Za-z0-9]+/g, "_").toUpperCase().slice(0, 40);
    return variableOf(this.toolkit, suffix === "" ? own_ : `${own_}_${suffix}`);
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
