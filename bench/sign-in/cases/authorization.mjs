// Metadata, registration and authorization requests.
import { claudeCode, hosting } from "../../../tests/support/sign-in.mjs";
import { REDIRECT, begin, call, discover, outcome, register, visit } from "../client.mjs";

const list = (values = []) => values.toSorted().join(", ");
const registered = ({ client_secret, client_secret_expires_at: expires, token_endpoint_auth_method: method }) =>
  `registered, ${method}${client_secret ? `, a secret that ${expires === 0 ? "does not expire" : "expires"}` : ""}`;
const metadata = (field) => async (server) => list([(await discover(server))[field]].flat().map(String));
const resource = async (server) => (await server.fetch.main(`${server.base}/.well-known/oauth-protected-resource/mcp`)).json();
const rejected = (changes, settings) => async (server) => visit(await begin(server, { changes, ...settings }));
const HTTPS = "https://client.example/callback";
const OF_REDIRECTS = "RFC 7591, 3.2.2 has this code for redirect URIs";

export const AUTHORIZATION = [
  { title: "metadata: `code_challenge_methods_supported`", run: metadata("code_challenge_methods_supported") },
  { title: "metadata: `grant_types_supported`", run: metadata("grant_types_supported"), why: "Entries of `API_KEYS` are clients that act for themselves (MCP's extension OAuth Client Credentials)" },
  { title: "metadata: `response_types_supported`", run: metadata("response_types_supported") },
  { title: "metadata: `token_endpoint_auth_methods_supported`", run: metadata("token_endpoint_auth_methods_supported") },
  { title: "metadata: `iss` in responses", run: metadata("authorization_response_iss_parameter_supported") },
  { title: "metadata: client ID metadata documents", run: metadata("client_id_metadata_document_supported") },
  {
    title: "metadata of the resource: its server and itself",
    async run(server) {
      const { resource: own, authorization_servers } = await resource(server);
      return [own, ...authorization_servers].join(", ").replaceAll(server.base, "…");
    },
  },
  {
    title: "metadata of the resource: `scopes_supported`",
    run: async (server) => list((await resource(server)).scopes_supported),
  },
  { title: "a call without a token", run: (server) => call(server) },
  { title: "a call with an unknown token", run: (server) => call(server, "unknown") },

  { title: "registration of a public client", run: (server) => outcome(register(server), registered) },
  { title: "registration with `client_secret_post`", run: (server) => outcome(register(server, { token_endpoint_auth_method: "client_secret_post" }), registered), why: "The secret follows from the `client_id`, which does not expire; theirs is deleted after 90 days without use" },
  { title: "registration with an unknown grant type", run: (server) => outcome(register(server, { grant_types: ["authorization_code", "urn:example:other"] }), registered), why: "claude.ai registers grant types that servers do not know. RFC 7591 lets a server replace them" },
  { title: "registration with `javascript:`", run: (server) => outcome(register(server, { redirect_uris: [REDIRECT, "javascript:alert(1)"] })), why: OF_REDIRECTS },
  { title: "registration with `http` on another machine", run: (server) => outcome(register(server, { redirect_uris: ["http://client.example/callback"] })), why: OF_REDIRECTS },
  { title: "registration with `cursor:` and loopback", run: (server) => outcome(register(server, { redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback", REDIRECT] })) },
  { title: "authorization with that `cursor:`", run: rejected({ redirect_uri: "cursor://a/cb" }, { metadata: { redirect_uris: ["cursor://a/cb", REDIRECT] } }) },

  { title: "authorization with S256", run: async (server) => visit(await begin(server)) },
  { title: "`plain`", run: rejected({ code_challenge_method: "plain" }) },
  { title: "no `code_challenge_method`", run: rejected({ code_challenge_method: undefined }) },
  { title: "no `code_challenge`", run: rejected({ code_challenge: undefined, code_challenge_method: undefined }) },
  { title: "`response_type=token`", run: rejected({ response_type: "token" }) },
  { title: "wrong `resource`", run: rejected({ resource: "https://other.example/mcp" }) },
  { title: "no `resource`", run: rejected({ resource: undefined }) },
  { title: "wrong `resource`, `https` client", run: rejected({ resource: "https://other.example/mcp" }, { redirect: HTTPS }), why: "Anybody can register a client, so the page shows the link instead of redirecting (RFC 9700, 4.11.2). Clients on this machine get the error" },
  { title: "unknown client", run: rejected({}, { client: { client_id: "unknown" } }) },
  { title: "other path of the redirect URI", run: rejected({ redirect_uri: "http://localhost:3118/other" }) },
  { title: "other port of a loopback redirect URI", run: rejected({ redirect_uri: "http://localhost:50000/callback" }) },
  { title: "other port of an `https` redirect URI", run: rejected({ redirect_uri: "https://client.example:8443/callback" }, { redirect: HTTPS }) },
  {
    title: "client ID metadata document at `http`, all on this machine",
    async run(server) {
      const path = "/oauth/claude-code-client-metadata";
      const documents = await hosting({ [path]: claudeCode });
      const client = { client_id: `${documents.base}${path}` };
      const reply = await visit(await begin(server, { client, redirect: "http://localhost:3118/callback" }));
      await documents.close();
      return reply;
    },
    why: "For development. Elsewhere Toolbooth too requires `https`",
  },
];
