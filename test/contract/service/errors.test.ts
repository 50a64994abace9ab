import { expect, test } from "vitest";
import { openTarget, place, refusedFields, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, one } = await openTarget();
const policy = one("lifecycle_policies");
const POLICY = `/cloud/v1/lifecycle_policy/${place(policy)}/${policy.id}`;
const EVENT = "/storage/notifications/v1/event";
const AI_TASKS = "/streaming/ai/tasks";
const MAX_BODY_BYTES = 1_048_576;

const cloudError = (exception_class: string) => ({
  exception_class,
  message: expect.stringMatching(/\S/),
  request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
});
const shortError = { error: expect.stringMatching(/\S/) };
/** Valid JSON of this many bytes that breaks the rule for names. */
const bodyOf = (bytes: number) => `{"name":"${"x".repeat(bytes - 11)}"}`;

test.each([
  ["cloud", "/cloud/nowhere", cloudError("NotFoundError")],
  ["cloud, for a path of no family", "/", cloudError("NotFoundError")],
  ["cloud, for a path that is too long", `${POLICY}/nothing`, cloudError("NotFoundError")],
  ["storage", "/storage/nowhere", shortError],
  ["streaming", "/streaming/nowhere", shortError],
])("an unknown path returns 404 in the format of the family %s", async (_, path, body) => {
  const answer = await call("GET", path);

  expect(answer.status).toBe(404);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.body).toEqual(body);
});

const HERE = place(policy);
test.each([
  [`/cloud/v1/caas/${HERE}/containers/any`, ["GET", "PATCH"]],
  [`/cloud/v1/instances/${HERE}/any`, ["GET"]],
  [`/cloud/v1/instances/${HERE}/any/resume`, ["POST"]],
  [AI_TASKS, ["GET"]],
  [POLICY, ["GET", "PATCH"]],
  [`${POLICY}/remove_volumes_from_policy`, ["PUT"]],
  [`/cloud/v2/pricing/${HERE}/instances`, ["POST"]],
  [`/cloud/v2/pricing/${HERE}/k8s/clusters/any`, ["GET"]],
  [`/cloud/v1/lbpools/${HERE}/any`, ["GET", "PATCH"]],
  [`/cloud/v2/lbpools/${HERE}/any`, ["PATCH"]],
  ["/cloud/v1/pricing/1/ddos", ["GET"]],
  [EVENT, ["DELETE", "POST", "PUT"]],
  [`${EVENT}s`, ["GET"]],
  [`${EVENT}s/configurator`, ["GET"]],
  [`/cloud/v1/routers/${HERE}`, ["POST"]],
  [`/cloud/v1/routers/${HERE}/any`, ["GET"]],
  [`/cloud/v1/pricing/${HERE}/ai/clusters/any`, ["GET"]],
  [`/cloud/v1/floatingips/${HERE}/any/metadata_item`, ["GET"]],
  [`/cloud/v1/networks/${HERE}/any/metadata_item`, ["GET"]],
  ["/v1/tasks/any", ["GET"]],
  ["/cloud/v1/tasks/any", ["GET"]],
  ["/cloud/v1/tasks", ["GET"]],
])("%s returns 405 for other methods and allows %j", async (path, allowed) => {
  const others = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !allowed.includes(one));
  const isCloud = !path.startsWith("/storage") && !path.startsWith("/streaming");

  const answers = await Promise.all(others.map((method) => call(method, path)));

  for (const { status, headers, body } of answers) {
    expect(status).toBe(405);
    expect(headers.get("Allow")?.split(", ").sort()).toEqual(allowed);
    expect(body).toEqual(isCloud ? cloudError("HTTPError") : shortError);
  }
});

test.each([
  ["cloud", "PATCH", POLICY, cloudError("HTTPError")],
  ["storage", "POST", EVENT, shortError],
  ["streaming", "POST", AI_TASKS, shortError],
])(
  "a body over 1 MiB returns 413 in the format of the family %s",
  async (_, method, path, body) => {
    const above = await call(method, path, { text: bodyOf(MAX_BODY_BYTES + 1) });

    expect(above.status).toBe(413);
    expect(above.body).toEqual(body);
  },
);

test("a body of exactly 1 MiB is accepted", async () => {
  const atLimit = await call("PATCH", POLICY, { text: bodyOf(MAX_BODY_BYTES) });

  expect(refusedFields(atLimit)).toEqual(["name"]);
});

test.each([
  ["cloud", "PATCH", POLICY, cloudError("HTTPError")],
  ["storage", "POST", EVENT, shortError],
  ["streaming", "POST", AI_TASKS, shortError],
])(
  "a body of another type returns 415 in the format of the family %s",
  async (_, method, path, body) => {
    const types = ["text/plain", "application/x-www-form-urlencoded", "application/json-seq"];

    const answers = await Promise.all(
      types.map((type) => call(method, path, { text: "{}", headers: { "content-type": type } })),
    );

    expect(answers.map(({ status }) => status)).toEqual([415, 415, 415]);
    for (const answer of answers) expect(answer.body).toEqual(body);
  },
);

test.each(["application/json; charset=utf-8", "Application/JSON"])(
  "a body of type %s counts as JSON",
  async (type) => {
    const answer = await call("PATCH", POLICY, { body: {}, headers: { "content-type": type } });

    expect(answer.status).toBe(200);
  },
);

test.each([
  ["is cut off", '{"name":"hush-1"'],
  ["is not JSON", "hush-1"],
  ["is not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
  ["is nested too deeply", "[".repeat(100_000)],
])("a body that %s returns 400, and the error does not quote it", async (_, text) => {
  const cloud = await call("PATCH", POLICY, { text });
  const storage = await call("POST", EVENT, { text });

  expect(cloud.status).toBe(400);
  expect(cloud.body).toEqual({
    ...cloudError("ValidationError"),
    invalid_fields: { body: [expect.stringMatching(/JSON/)] },
  });
  expect(JSON.stringify(cloud.body)).not.toContain("hush-1");
  expect(storage.status).toBe(400);
  expect(storage.body).toEqual(shortError);
});

test("an error lists every invalid field of path, query and body with its rules and without values", async () => {
  const path = POLICY.replace(`/${policy.project_id}/`, "/hush-1/");

  const refused = await call("PATCH", `${path}?colour=hush-2`, {
    body: { name: "hush-3 ", status: "hush-4" },
  });

  expect(refusedFields(refused)).toEqual(["colour", "name", "project_id", "status"]);
  for (const [field, rules] of Object.entries(refused.body.invalid_fields)) {
    expect(rules).toEqual([expect.stringMatching(/\S/)]);
    expect(refused.body.message).toContain(field);
  }
  expect(JSON.stringify(refused.body)).not.toContain("hush");
});

test("every error has its own request id", async () => {
  const [first, second] = [await call("GET", "/nowhere"), await call("GET", "/nowhere")];

  expect(first.body.request_id).not.toBe(second.body.request_id);
});

const NO_KEY = { authorization: null };
const PLAIN = { "content-type": "text/plain" };
const TOO_LARGE = bodyOf(MAX_BODY_BYTES + 1);
const UNKNOWN_POLICY = `/cloud/v1/lifecycle_policy/${HERE}/987654321`;

test.each([
  ["size before media type", 413, "PATCH", POLICY, { text: TOO_LARGE, headers: PLAIN }],
  ["media type before JSON", 415, "PATCH", POLICY, { text: "{", headers: PLAIN }],
  ["JSON before the key", 400, "PATCH", POLICY, { text: "{", headers: NO_KEY }],
  ["the key before the path", 401, "GET", "/nowhere", { headers: NO_KEY }],
  ["the key before the method", 401, "DELETE", POLICY, { headers: NO_KEY }],
  ["the key before the values", 401, "PATCH", POLICY, { body: { name: 1 }, headers: NO_KEY }],
  ["JSON before the path", 400, "POST", "/nowhere", { text: "{" }],
  ["the method before the values", 405, "PUT", POLICY, { body: { name: 1 } }],
  ["values before existence", 400, "PATCH", UNKNOWN_POLICY, { body: { name: 1 } }],
  [
    "rules across fields before existence",
    400,
    "PATCH",
    `/cloud/v1/caas/${HERE}/containers/${uniqueName("nobody")}`,
    { body: { scale: { min: 2, max: 1 } } },
  ],
  [
    "rules across members before existence",
    400,
    "PATCH",
    `/cloud/v1/lbpools/${HERE}/${UNKNOWN_ID}`,
    { body: { members: Array(2).fill({ address: "192.0.2.1", protocol_port: 80 }) } },
  ],
  ["values before the client", 400, "POST", `${EVENT}?client_id=987654321`, { body: {} }],
])("the order of checks: %s", async (_, status, method, path, sent) => {
  expect((await call(method, path, sent)).status).toBe(status);
});
