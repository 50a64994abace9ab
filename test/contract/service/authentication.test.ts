import { expect, test } from "vitest";
import { AS_OTHER_CLIENT, KEY, openTarget, place, SCHEME, uniqueName } from "./target.ts";

const { call, createEvent, own, one } = await openTarget();
const container = one("containers");
const policy = one("lifecycle_policies");
const POLICY = `/cloud/v1/lifecycle_policy/${place(policy)}/${policy.id}`;
const EVENT = "/storage/notifications/v1/event";
const AI_TASKS = "/streaming/ai/tasks";

const MALFORMED: readonly (readonly [string, string | null])[] = [
  ["no header", null],
  ["an empty header", ""],
  ["the scheme alone", SCHEME],
  ["the key alone", KEY],
  ["another scheme", `Bearer ${KEY}`],
  ["no space", `${SCHEME}${KEY}`],
  ["two spaces", `${SCHEME}  ${KEY}`],
  ["something after the key", `${SCHEME} ${KEY} more`],
];
const UNKNOWN: readonly (readonly [string, string])[] = [
  ["an unknown key", `${SCHEME} 2001_0000`],
  ["a key that is cut off", `${SCHEME} ${KEY.slice(0, -1)}`],
  ["a key with one letter more", `${SCHEME} ${KEY}0`],
];

test.each([SCHEME, "APIKey", "APIKEY"])("the scheme %s is accepted", async (scheme) => {
  const answer = await call("GET", POLICY, { headers: { authorization: `${scheme} ${KEY}` } });

  expect(answer.status).toBe(200);
});

test.each(MALFORMED)("a request with %s is not authenticated", async (_, authorization) => {
  const answer = await call("GET", POLICY, { headers: { authorization } });

  expect(answer.status).toBe(401);
  expect(answer.headers.get("WWW-Authenticate")).toBe("apikey");
  expect(answer.body).toEqual({
    exception_class: "not_authenticated",
    message: expect.stringMatching(/apikey/),
    request_id: expect.any(String),
  });
});

test.each(UNKNOWN)("a request with %s has no valid token", async (_, authorization) => {
  const answer = await call("GET", POLICY, { headers: { authorization } });

  expect(answer.status).toBe(401);
  expect(answer.body).toMatchObject({ exception_class: "token_not_valid" });
  expect(JSON.stringify(answer.body)).not.toContain(authorization.split(" ")[1]);
});

test.each([
  ["storage", `${EVENT}s`],
  ["streaming", AI_TASKS],
])(
  "the error for a request without a valid key has the format of the family %s",
  async (_, path) => {
    const answers = [
      await call("GET", path, { headers: { authorization: null } }),
      await call("GET", path, { headers: { authorization: `${SCHEME} 2001_0000` } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    for (const { body } of answers) expect(body).toEqual({ error: expect.any(String) });
  },
);

test("a change without a valid key changes nothing", async () => {
  const before = (await call("GET", POLICY)).body;

  const refused = await call("PATCH", POLICY, {
    body: { name: uniqueName("thief") },
    headers: { authorization: null },
  });

  expect(refused.status).toBe(401);
  expect((await call("GET", POLICY)).body).toEqual(before);
});

test("a request without a key learns nothing about paths", async () => {
  const headers = { authorization: null };

  const answers = await Promise.all(
    ["/nowhere", "/v1/tasks/1", POLICY, `${POLICY}/nothing`].map((path) =>
      call("GET", path, { headers }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
});

const CONTAINER = `/cloud/v1/caas/${place(container)}/containers/${encodeURIComponent(container.name)}`;
const pool = one("load_balancer_pools");
const network = one("networks", ({ tags }) => tags.length > 0);
const instance = one("instances");
const cluster = one("k8s_clusters");

test.each([
  ["PATCH", CONTAINER, { timeout: 5 }],
  ["POST", `/cloud/v1/instances/${place(instance)}/${instance.id}/resume`, undefined],
  ["PUT", `${POLICY}/remove_volumes_from_policy`, { volume_ids: [] }],
  ["PATCH", POLICY, { status: "paused" }],
  ["PATCH", `/cloud/v1/lbpools/${place(pool)}/${pool.id}`, {}],
  ["POST", `/cloud/v1/routers/${place(network)}`, { name: "edge" }],
  [
    "POST",
    `/cloud/v2/pricing/${place(instance)}/instances`,
    { flavor: "any", interfaces: [], names: [] },
  ],
  ["GET", `/cloud/v2/pricing/${place(cluster)}/k8s/clusters/${cluster.name}`, undefined],
  ["GET", `/cloud/v1/networks/${place(network)}/${network.id}/metadata_item?key=k`, undefined],
  ["GET", `/v1/tasks/${one("tasks").id}`, undefined],
  ["GET", CONTAINER, undefined],
])("another client gets 404 on %s %s", async (method, path, body) => {
  const answer = await call(method, path, { body, headers: AS_OTHER_CLIENT });

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});

test("another client sees no events, AI tasks or tasks of the key's client", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };
  await createEvent(event);
  const as = { headers: AS_OTHER_CLIENT };

  const events = await call("GET", `${EVENT}s`, as);
  const aiTasks = await call("GET", `${AI_TASKS}?limit=1000`, as);
  const tasks = await call("GET", "/cloud/v1/tasks?limit=1000", as);
  const update = await call("PUT", EVENT, { ...as, body: event });

  expect([events.status, aiTasks.status, tasks.status]).toEqual([200, 200, 200]);
  expect(JSON.stringify(events.body)).not.toContain(event.storage_name);
  for (const { task_id } of own("ai_tasks")) {
    expect(JSON.stringify(aiTasks.body)).not.toContain(task_id);
  }
  for (const { id } of own("tasks")) expect(JSON.stringify(tasks.body)).not.toContain(id);
  expect(update.status).toBe(404);
});
