// The sample samples/library: tools without functions, whose requests reach a service. The tables of requests and responses are
// native tests (crates/toolbooth/src/tool/http/tests).
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { Browser, PUBLIC } from "./support/authorizing.mjs";
import { CLIENT, authorizationServer } from "./support/oauth.mjs";
import { listen } from "./support/server.mjs";
import { CANARY, LIBRARY, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-the-reader`;
const SECRET = `${CANARY}-library-key`;
/** Requests that reached the service: method, address, and what the test is about. */
const requests = [];
/** How the service responds: `[status, body, headers]`. */
let respond;
let service, provider, worker;

before(async () => {
  provider = await authorizationServer();
  provider.now.scope = "reviews";
  service = await listen(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { authorization, "x-api-key": key, "content-type": type } = request.headers;
    requests.push({ line: `${request.method} ${request.url}`, authorization, key, type, body });
    const [status, answer, headers = {}] = respond(request);
    response.writeHead(status, headers).end(answer);
  });
  worker = await start(LIBRARY, {
    vars: {
      AUTH: "api-key",
      API_KEYS: JSON.stringify([entryOf(KEY, "reader", ["library:write"])]),
      LIBRARY_URL: `${service.base}/api`,
      LIBRARY_API_KEY: SECRET,
      PUBLIC_URL: PUBLIC,
      UNVERIFIED_USERS: "allow",
      STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
      GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
      OAUTH_PROVIDERS: "library",
      OAUTH_LIBRARY_CLIENT_ID: CLIENT.id,
      OAUTH_LIBRARY_CLIENT_SECRET: CLIENT.secret,
      OAUTH_LIBRARY_AUTHORIZE_URL: `${provider.base}/authorize`,
      OAUTH_LIBRARY_TOKEN_URL: `${provider.base}/token`,
    },
  });
});
beforeEach(() => {
  requests.splice(0);
  respond = () => [200, "{}"];
});
after(async () => {
  await worker.close();
  await Promise.all([service.close(), provider.close()]);
});

const call = (tool, input, context) =>
  worker.post({ tool_id: `Library.${tool}`, input, ...(context && { context }) }, { headers: { authorization: `Bearer ${KEY}` } });

test("a query, a secret of the operator, a part of the response, and the next page", async () => {
  const link = `<${service.base}/api/books?q=sea&page=2&token=t>; rel="next"`;
  respond = () => [200, JSON.stringify({ books: [{ id: "7" }], total: 2 }), { link, "set-cookie": "a=b" }];
  const { status, json } = await call("FindBooks", { query: "the sea", subjects: ["a,b", "c"], published: { from: 1950 } });
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(json.value, { value: [{ id: "7" }], next: { query: "sea", page: 2 } });
  assert.deepEqual(requests, [{ line: "GET /api/books?q=the%20sea&subject=a%2Cb,c&published%5Bfrom%5D=1950", authorization: undefined, key: SECRET, type: undefined, body: "" }]);
});

test("a read is repeated once after 429", async () => {
  respond = () => (requests.length === 1 ? [429, "", { "retry-after": "0" }] : [200, '{"books":[]}']);
  assert.deepEqual((await call("FindBooks", { query: "a" })).json.value, { value: [], next: null });
  assert.equal(requests.length, 2);
});

for (const [id, path] of [
  ["a/b", "/api/books/a%2Fb"],
  ["%2e%2e", "/api/books/%252e%252e"],
  ["a\\b", "/api/books/a%5Cb"],
  ["a?b#c", "/api/books/a%3Fb%23c"],
  ["a\r\nx: y", "/api/books/a%0D%0Ax%3A%20y"],
]) {
  test(`a path from ${JSON.stringify(id)} stays below the address`, async () => {
    assert.equal((await call("GetBook", { id })).status, 200);
    assert.deepEqual(requests.map(({ line, key }) => [line, key]), [[`GET ${path}`, undefined]]);
  });
}

test("segments of dots are never sent", async () => {
  for (const id of ["..", ".", "", "a/../b", "../../admin", "..\\.."]) {
    const { json } = await call("GetBook", { id });
    assert.deepEqual([json.success, json.error.message], [false, "A part of the address is not valid"]);
  }
  assert.deepEqual(requests, []);
});

test("redirects are not followed, and long responses are cut", async () => {
  respond = () => [302, "", { location: `${service.base}/elsewhere` }];
  const { json } = await call("GetBook", { id: "7" });
  assert.equal(json.error.message, "The service redirects the request");
  assert.equal(requests.length, 1);
  respond = () => [200, "x".repeat(5_000)];
  const cut = await call("GetBook", { id: "7" });
  assert.equal(cut.json.value, `${"x".repeat(1_000)}\n\n[The response was cut after 1000 bytes.]`);
});

test("text is read in the charset that the service declares", async () => {
  for (const [type, body, expected] of [
    ["text/plain; charset=iso-8859-1", Buffer.from("M\xfcller", "latin1"), "Müller"],
    ["text/csv; charset=windows-1252", Buffer.from("name,preis\nM\xfcller,5\x80\n", "latin1"), "name,preis\nMüller,5€\n"],
    ["text/csv; charset=utf-16", Buffer.concat([Buffer.from("fffe", "hex"), Buffer.from("a,ü\n", "utf16le")]), "a,ü\n"],
    ["text/plain; charset=utf-16be", Buffer.from("00fc", "hex"), "ü"],
    ["text/plain; charset=shift_jis", Buffer.from("93fa", "hex"), "日"],
    ["text/plain; charset=gb18030", Buffer.from("c8d5", "hex"), "日"],
    ["text/plain; charset=euc-kr", Buffer.from("c0cf", "hex"), "일"],
    ["text/plain; charset=koi8-r", Buffer.from("c4", "hex"), "д"],
    ["application/json", Buffer.from('\ufeff{"a":"ü"}'), { a: "ü" }],
    ["application/json; charset=iso-8859-1", Buffer.from('{"a":"\xfc"}', "latin1"), { a: "ü" }],
    ["text/plain; charset=x-unknown", Buffer.from([0xfc]), "[The response is no text: 1 bytes.]"],
    ["image/png; charset=iso-8859-1", Buffer.from([0x89, 0x50]), "[The response is no text: 2 bytes.]"],
  ]) {
    respond = () => [200, body, { "content-type": type }];
    assert.deepEqual((await call("GetBook", { id: "7" })).json.value, expected, type);
  }
  respond = () => [404, Buffer.from("f\xfcr", "latin1"), { "content-type": "text/plain; charset=latin1" }];
  assert.equal((await call("GetBook", { id: "7" })).json.error.additional_prompt_content, "für");
});

test("an error of the service has its text", async () => {
  respond = () => [404, "There is no such book"];
  const { json } = await call("GetBook", { id: "7" });
  assert.deepEqual([json.error.message, json.error.additional_prompt_content], ["The service responded with status 404", "There is no such book"]);
});

test("a user authorizes a tool, and again when the service rejects the token", async () => {
  const user_id = `${CANARY}-reader`;
  const add = () => call("AddReview", { id: "7", stars: 5, text: null }, { user_id });
  const first = await add();
  assert.deepEqual([first.status, first.json.message], [400, "Authorization required"]);
  const [challenge] = first.json.missing_requirements.authorization;
  assert.equal((await new Browser(worker).grant(challenge)).status, 200);
  respond = () => [201, '{"review":1}'];
  assert.deepEqual((await add()).json.value, { review: 1 });
  const [{ line, authorization, key, type, body }, ...more] = requests;
  assert.deepEqual([line, key, type, JSON.parse(body), more], ["POST /api/books/7/reviews", undefined, "application/json", { stars: 5, text: null }, []]);
  assert.match(authorization, /^Bearer .+-access-1$/);
  respond = () => [401, "expired"];
  const rejected = await add();
  assert.equal(rejected.json.message, "Authorization required");
  assert.equal(rejected.json.missing_requirements.authorization.length, 1);
});
