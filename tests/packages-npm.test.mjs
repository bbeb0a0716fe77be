// The npm packages that authors of tools use most: each is bundled as it was published, starts, and answers one call. tests/packages has
// their exact versions; docs/TOOLS.md names those that do not run on Workers.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { start } from "./support/functions.mjs";

const folder = fileURLToPath(new URL("packages", import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** What the service at `url` answers to every request. */
const REPLY = { name: "a", data: [{ id: "a" }], rows: [], fields: [], result: "a" };

/** What is imported of each package, an expression with it, and the value of that. Those with `url` send a request to the service. */
const PACKAGES = {
  "@anthropic-ai/sdk": ["Anthropic", '(await new Anthropic({ apiKey: "k", baseURL: url }).models.list()).data', REPLY.data],
  "@aws-sdk/client-s3": [
    "{ HeadBucketCommand, S3Client }",
    '(await new S3Client({ endpoint: url, region: "a", forcePathStyle: true, credentials: { accessKeyId: "a", secretAccessKey: "b" } }).send(new HeadBucketCommand({ Bucket: "b" }))).$metadata.httpStatusCode',
    200,
  ],
  "@google/genai": ["{ GoogleGenAI }", '(await new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } }).models.get({ model: "a" })).name', "a"],
  "@langchain/core/prompts": ["{ PromptTemplate }", 'await PromptTemplate.fromTemplate("a {b}").format({ b: 1 })', "a 1"],
  "@libsql/client/web": ["{ createClient }", "createClient({ url }).protocol", "http"],
  "@neondatabase/serverless": ["{ neon, neonConfig }", '((neonConfig.fetchEndpoint = () => url), await neon("postgresql://u:p@a.example/b")`select 1`)', []],
  "@noble/hashes/sha2.js": ["{ sha256 }", 'Buffer.from(sha256(new TextEncoder().encode("a"))).toString("hex").slice(0, 8)', "ca978112"],
  "@octokit/rest": ["{ Octokit }", '(await new Octokit({ baseUrl: url }).rest.repos.get({ owner: "a", repo: "b" })).data', REPLY],
  "@planetscale/database": ["{ connect }", 'typeof connect({ url: "mysql://u:p@a.example/b" }).execute', "function"],
  "@sendgrid/mail": ["mail", '(mail.setApiKey("SG.k"), typeof mail.send)', "function"],
  "@slack/web-api": ["{ WebClient }", 'new WebClient("xoxb-1").token', "xoxb-1"],
  "@supabase/supabase-js": ["{ createClient }", '(await createClient(url, "k").from("t").select()).data', REPLY],
  "@upstash/redis/cloudflare": ["{ Redis }", 'await new Redis({ url, token: "t", responseEncoding: false, enableAutoPipelining: false }).get("a")', "a"],
  ai: ["{ cosineSimilarity }", "cosineSimilarity([1, 0], [1, 0])", 1],
  async: ["async", "await async.mapLimit([1, 2], 1, async (x) => x * 2)", [2, 4]],
  axios: ["axios", "(await axios.get(url)).data", REPLY],
  bcryptjs: ["bcrypt", 'bcrypt.compareSync("x", bcrypt.hashSync("x", 4))', true],
  "bignumber.js": ["BigNumber", 'new BigNumber("0.1").plus("0.2").toString()', "0.3"],
  bluebird: ["Bluebird", "await Bluebird.map([1, 2], (x) => x * 2)", [2, 4]],
  cheerio: ["{ load }", 'load("<p>a</p>")("p").text()', "a"],
  commander: ["{ Command }", 'new Command().option("-n <x>").parse(["-n", "3"], { from: "user" }).opts().n', "3"],
  "cross-fetch": ["fetch", "await (await fetch(url)).json()", REPLY],
  "csv-parse/sync": ["{ parse }", 'parse("a,b\\n1,2", { columns: true })', [{ a: "1", b: "2" }]],
  "date-fns": ["{ addDays, format }", 'format(addDays(new Date(2024, 1, 28), 2), "yyyy-MM-dd")', "2024-03-01"],
  dayjs: ["dayjs", 'dayjs("2024-02-28").add(2, "day").format("YYYY-MM-DD")', "2024-03-01"],
  debug: ["debug", 'debug("a").extend("b").namespace', "a:b"],
  "decimal.js": ["{ Decimal }", 'new Decimal("0.1").plus("0.2").toString()', "0.3"],
  dotenv: ["{ parse }", 'parse(\'A=1\\nB="x"\')', { A: "1", B: "x" }],
  "drizzle-orm/sqlite-core": ["{ QueryBuilder, sqliteTable, text }", 'new QueryBuilder().select().from(sqliteTable("t", { a: text() })).toSQL().sql', 'select "a" from "t"'],
  ethers: ["{ id }", 'id("a").slice(0, 10)', "0x3ac22516"],
  eventemitter3: ["{ EventEmitter }", 'new EventEmitter().on("a", () => {}).emit("a")', true],
  express: ["express", 'express().set("a", 1).get("a")', 1],
  "fast-xml-parser": ["{ XMLParser }", 'new XMLParser().parse("<a><b>1</b></a>")', { a: { b: 1 } }],
  fflate: ["{ strFromU8, strToU8, unzlibSync, zlibSync }", 'strFromU8(unzlibSync(zlibSync(strToU8("a"))))', "a"],
  "form-data": ["FormData", '((form) => (form.append("a", "b"), form.get("a")))(new FormData())', "b"],
  got: ["got", "await got(url).json()", REPLY],
  graphql: ["{ buildSchema, graphql }", 'await graphql({ schema: buildSchema("type Query { a: Int }"), source: "{ a }", rootValue: { a: 1 } })', { data: { a: 1 } }],
  hono: ["{ Hono }", 'await (await new Hono().get("/a", (c) => c.json({ a: 1 })).request("/a")).json()', { a: 1 }],
  "iconv-lite": ["iconv", 'iconv.decode(Buffer.from([0xe9]), "latin1")', "é"],
  immer: ["{ produce }", "produce({ a: 1 }, (draft) => void (draft.a = 2))", { a: 2 }],
  ioredis: ["Redis", "new Redis({ lazyConnect: true }).status", "wait"],
  joi: ["Joi", 'Joi.object({ a: Joi.number() }).validate({ a: "1" }).value', { a: 1 }],
  jose: [
    "{ jwtVerify, SignJWT }",
    '(await jwtVerify(await new SignJWT({ a: 1 }).setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32)), new Uint8Array(32))).payload',
    { a: 1 },
  ],
  "js-yaml": ["{ load }", 'load("a: [1]")', { a: [1] }],
  jsonwebtoken: ["jwt", 'jwt.verify(jwt.sign({ a: 1 }, "k", { noTimestamp: true }), "k")', { a: 1 }],
  jszip: ["JSZip", 'await (await JSZip.loadAsync(await new JSZip().file("a", "b").generateAsync({ type: "uint8array" }))).file("a").async("string")', "b"],
  ky: ["ky", "await ky(url).json()", REPLY],
  knex: ["knex", 'knex({ client: "pg" })("t").where({ a: 1 }).toString()', 'select * from "t" where "a" = 1'],
  kysely: [
    "{ DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler }",
    'new Kysely({ dialect: { createAdapter: () => new SqliteAdapter(), createDriver: () => new DummyDriver(), createIntrospector: (db) => new SqliteIntrospector(db), createQueryCompiler: () => new SqliteQueryCompiler() } }).selectFrom("t").selectAll().compile().sql',
    'select * from "t"',
  ],
  lodash: ["lodash", "lodash.chunk([1, 2, 3], 2)", [[1, 2], [3]]],
  "lru-cache": ["{ LRUCache }", 'new LRUCache({ max: 1 }).set("a", 1).set("b", 2).has("a")', false],
  luxon: ["{ DateTime }", 'DateTime.fromISO("2024-02-28", { zone: "utc" }).plus({ days: 2 }).toISODate()', "2024-03-01"],
  mariadb: ["{ createPool }", "typeof createPool", "function"],
  "markdown-it": ["markdownIt", 'markdownIt().render("*a*")', "<p><em>a</em></p>\n"],
  marked: ["{ marked }", 'marked.parse("*a*")', "<p><em>a</em></p>\n"],
  mathjs: ["{ evaluate }", 'evaluate("2 ^ 3 + sqrt(4)")', 10],
  "mime-types": ["mime", 'mime.lookup("a.json")', "application/json"],
  minimatch: ["{ minimatch }", 'minimatch("a/b.js", "**/*.js")', true],
  moment: ["moment", 'moment("2024-02-28").add(2, "days").format("YYYY-MM-DD")', "2024-03-01"],
  mongodb: ["{ BSON, ObjectId }", 'BSON.deserialize(BSON.serialize({ a: new ObjectId("0123456789abcdef01234567") })).a.toHexString()', "0123456789abcdef01234567"],
  ms: ["ms", 'ms("2d")', 172_800_000],
  mustache: ["Mustache", 'Mustache.render("{{a}}", { a: 1 })', "1"],
  "mysql2/promise": ["mysql", 'mysql.format("select ?", ["a"])', "select 'a'"],
  nanoid: ["{ nanoid }", "nanoid().length", 21],
  "node-fetch": ["fetch", "await (await fetch(url)).json()", REPLY],
  nodemailer: [
    "{ createTransport }",
    '(await createTransport({ jsonTransport: true }).sendMail({ from: "a@a.example", to: "b@b.example", text: "a" })).envelope',
    { from: "a@a.example", to: ["b@b.example"] },
  ],
  openai: ["OpenAI", '(await new OpenAI({ apiKey: "k", baseURL: url }).models.list()).data', REPLY.data],
  "p-limit": ["pLimit", "await pLimit(1)(async () => 1)", 1],
  "p-retry": ["pRetry", "await pRetry(async (attempt) => attempt)", 1],
  pako: ["{ deflate, inflate }", 'new TextDecoder().decode(inflate(deflate("a")))', "a"],
  papaparse: ["Papa", 'Papa.parse("a,b\\n1,2", { header: true }).data', [{ a: "1", b: "2" }]],
  "pdf-lib": ["{ PDFDocument }", "(await (await PDFDocument.create()).save()).length > 100", true],
  pg: ["pg", "[pg.types.builtins.INT4, new pg.Client().port]", [23, 5432]],
  pino: ["pino", 'pino({ level: "silent" }).level', "silent"],
  "posthog-node": ["{ PostHog }", 'new PostHog("k", { host: url }).apiKey', "k"],
  postgres: ["postgres", 'postgres("postgres://a.example/b").options.database', "b"],
  qrcode: ["QRCode", 'QRCode.create("a").modules.size', 21],
  qs: ["qs", 'qs.parse("a[b]=1")', { a: { b: "1" } }],
  ramda: ["{ inc, map, pipe, sum }", "pipe(map(inc), sum)([1, 2])", 5],
  redis: ["{ createClient }", 'createClient({ url: "redis://a.example" }).isOpen', false],
  resend: ["{ Resend }", 'typeof new Resend("re_k").emails.send', "function"],
  rxjs: ["{ lastValueFrom, map, of, toArray }", "await lastValueFrom(of(1, 2).pipe(map((x) => x * 2), toArray()))", [2, 4]],
  "sanitize-html": ["sanitizeHtml", 'sanitizeHtml("<p>a<script>b</script></p>")', "<p>a</p>"],
  semver: ["semver", 'semver.satisfies("1.2.3", "^1.0.0")', true],
  stripe: ["Stripe", '(await new Stripe("sk_test_k", { protocol: "http", host: "127.0.0.1", port: new URL(url).port }).customers.list()).data', REPLY.data],
  tweetnacl: ["nacl", "[nacl.hash(new Uint8Array()).length, nacl.randomBytes(8).length]", [64, 8]],
  twilio: ["twilio", 'twilio("AC1", "t").accountSid', "AC1"],
  ulid: ["{ ulid }", "ulid().length", 26],
  underscore: ["underscore", "underscore.chunk([1, 2, 3], 2)", [[1, 2], [3]]],
  uuid: ["{ v4, v7, validate, version }", "[validate(v4()), version(v7())]", [true, 7]],
  valibot: ["{ number, object, parse }", "parse(object({ a: number() }), { a: 1 })", { a: 1 }],
  validator: ["validator", 'validator.isEmail("a@b.example")', true],
  winston: ["winston", "winston.createLogger({ silent: true, transports: [] }).level", "info"],
  xml2js: ["{ parseStringPromise }", 'await parseStringPromise("<a><b>1</b></a>")', { a: { b: ["1"] } }],
  yup: ["{ number, object }", 'await object({ a: number() }).validate({ a: "1" })', { a: 1 }],
  zod: ["{ z }", 'z.object({ a: z.coerce.number() }).parse({ a: "1" })', { a: 1 }],
};

/** The package of a path that is imported. */
const packageOf = (path) => path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/");
const functionOf = (path) => packageOf(path).replace(/^@/, "").replace(/\W/g, "_");

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
const service = createServer((_, response) => response.setHeader("content-type", "application/json").end(JSON.stringify(REPLY)));
let worker;
let url;
before(async () => {
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${service.address().port}`;
  symlinkSync(join(folder, "node_modules"), join(scratch, "node_modules"));
  const text = ([path, [names, expression]]) => `import ${names} from ${JSON.stringify(path)};\nexport default async ({ url }) => ${expression};\n`;
  worker = await start(scratch, Object.fromEntries(Object.entries(PACKAGES).map((entry) => [`tools/npm/${functionOf(entry[0])}.ts`, text(entry)])));
});
after(async () => {
  await worker?.close();
  service.close();
  rmSync(scratch, { recursive: true });
});

test("each package has an exact version and a call", () => {
  assert.deepEqual(Object.keys(PACKAGES).map(packageOf).sort(), Object.keys(dependencies).sort());
  for (const version of Object.values(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/);
});

for (const [path, [, , value]] of Object.entries(PACKAGES)) {
  test(`${packageOf(path)} ${dependencies[packageOf(path)]}: starts, and answers`, async () => {
    assert.deepEqual(await worker.call(`npm/${functionOf(path)}`, { url }), { value }, worker.log());
  });
}
