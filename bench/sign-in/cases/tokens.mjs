// Codes, access tokens and refresh tokens.
import { agree, begin, call, connect, exchange, inOrder, outcome, refresh, register, revoke } from "../client.mjs";

const issued = ({ token_type, expires_in, refresh_token, scope }) => [token_type, `${expires_in} s`, refresh_token && "refresh token", scope].filter(Boolean).join(", ");

export const TOKENS = [
  { title: "exchange of a code", run: (server) => outcome(connect(server), ({ tokens }) => issued(tokens)) },
  { title: "exchange without `offline_access`", run: (server) => outcome(connect(server, { changes: { scope: "github:read" } }), ({ tokens }) => issued(tokens)) },
  {
    title: "exchange by a client with a secret",
    run: (server) => outcome(connect(server, { metadata: { token_endpoint_auth_method: "client_secret_basic" } })),
  },
  {
    title: "exchange with a wrong secret",
    async run(server) {
      const one = await begin(server, { metadata: { token_endpoint_auth_method: "client_secret_basic" } });
      return outcome(exchange({ ...one, client: { ...one.client, client_secret: "wrong" } }, await agree(one)));
    },
  },
  { title: "a call with the token", run: async (server) => call(server, (await connect(server)).tokens.access_token) },
  {
    title: "wrong verifier, then the right one",
    async run(server) {
      const one = await begin(server);
      const callback = await agree(one);
      return inOrder([() => outcome(exchange({ ...one, verifier: "x".repeat(43) }, callback)), () => outcome(exchange(one, callback))]);
    },
  },
  {
    title: "exchange with another redirect URI",
    async run(server) {
      const one = await begin(server);
      return outcome(exchange({ ...one, redirect: "http://localhost:3118/other" }, await agree(one)));
    },
  },
  {
    title: "exchange with a wrong `resource`",
    async run(server) {
      const one = await begin(server);
      return outcome(exchange(one, await agree(one), { resource: "https://other.example/mcp" }));
    },
  },
  {
    title: "exchange by another client",
    async run(server) {
      const one = await begin(server);
      return outcome(exchange({ ...one, client: await register(server) }, await agree(one)));
    },
  },
  {
    title: "a code twice at the same time",
    async run(server) {
      const one = await begin(server);
      const callback = await agree(one);
      const both = [0, 1].map(() => outcome(exchange(one, callback)));
      return (await Promise.all(both)).toSorted().join(" and ");
    },
  },
  {
    title: "a code for the second time, then a refresh",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(exchange(one, one.callback)), () => outcome(refresh(one, one.tokens.refresh_token))]);
    },
  },
  {
    title: "a code for the second time, then a call with the token",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(exchange(one, one.callback)), () => call(server, one.tokens.access_token)]);
    },
  },

  {
    title: "refresh",
    async run(server) {
      const one = await connect(server);
      return outcome(refresh(one, one.tokens.refresh_token), (next) => `${next.refresh_token === one.tokens.refresh_token ? "same" : "new"} refresh token`);
    },
  },
  {
    title: "a refresh token again, before its successor was used",
    async run(server) {
      const one = await connect(server);
      await refresh(one, one.tokens.refresh_token);
      return outcome(refresh(one, one.tokens.refresh_token));
    },
  },
  {
    title: "a refresh token again, after its successor was used; then the newest",
    async run(server) {
      const one = await connect(server);
      const second = await refresh(one, one.tokens.refresh_token);
      const third = await refresh(one, second.refresh_token);
      return inOrder([() => outcome(refresh(one, one.tokens.refresh_token)), () => outcome(refresh(one, third.refresh_token))]);
    },
    why: "Somebody has a copy of the token, so the grant ends (RFC 9700, 4.14.2)",
  },
  {
    title: "a refresh token twice at the same time",
    async run(server) {
      const one = await connect(server);
      const both = [0, 1].map(() => outcome(refresh(one, one.tokens.refresh_token)));
      return (await Promise.all(both)).join(" and ");
    },
  },
  {
    title: "refresh with fewer scopes",
    async run(server) {
      const one = await connect(server, { changes: { scope: "github:read github:write offline_access" } });
      return outcome(refresh(one, one.tokens.refresh_token, { scope: "github:read" }), ({ scope }) => scope);
    },
  },
  {
    title: "refresh with more scopes",
    async run(server) {
      const one = await connect(server);
      return outcome(refresh(one, one.tokens.refresh_token, { scope: "github:write" }));
    },
  },
  {
    title: "refresh with a wrong `resource`",
    async run(server) {
      const one = await connect(server);
      return outcome(refresh(one, one.tokens.refresh_token, { resource: "https://other.example/mcp" }));
    },
  },
  {
    title: "refresh by another client",
    async run(server) {
      const one = await connect(server);
      return outcome(refresh({ ...one, client: await register(server) }, one.tokens.refresh_token));
    },
  },

  {
    title: "revocation of the refresh token, then a refresh",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(revoke(one, one.tokens.refresh_token)), () => outcome(refresh(one, one.tokens.refresh_token))]);
    },
  },
  {
    title: "revocation of the refresh token, then a call",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(revoke(one, one.tokens.refresh_token)), () => call(server, one.tokens.access_token)]);
    },
  },
  {
    title: "revocation of the access token, then a call",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(revoke(one, one.tokens.access_token)), () => call(server, one.tokens.access_token)]);
    },
  },
  {
    title: "revocation of the access token, then a refresh",
    async run(server) {
      const one = await connect(server);
      return inOrder([() => outcome(revoke(one, one.tokens.access_token)), () => outcome(refresh(one, one.tokens.refresh_token))]);
    },
    why: "RFC 7009, 2.1 allows both. As the token itself remains valid, its grant ends",
  },
  { title: "revocation of an unknown token", run: async (server) => outcome(revoke(await begin(server), "unknown")) },
  {
    title: "revocation by another client, then a refresh",
    async run(server) {
      const one = await connect(server);
      const other = { ...one, client: await register(server) };
      return inOrder([() => outcome(revoke(other, one.tokens.refresh_token)), () => outcome(refresh(one, one.tokens.refresh_token))]);
    },
  },
  {
    title: "a second consent for the client, then a refresh of the first",
    async run(server) {
      const one = await connect(server);
      await connect(server, { client: one.client });
      return outcome(refresh(one, one.tokens.refresh_token));
    },
    why: "Each consent is a separate grant, so another installation stays connected",
  },
];
