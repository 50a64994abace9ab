import { expect, test } from "vitest";
import { openTarget, place, refusedFields, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, createEvent, own, one, elsewhere } = await openTarget();
const EVENT = "/storage/notifications/v1/event";
const [container, instance, policy, pool, router] = [
  one("containers"),
  one("instances", ({ ddos_profile }) => ddos_profile !== null),
  one("lifecycle_policies", ({ volumes }) => volumes.length > 0),
  one("load_balancer_pools"),
  one("routers"),
];
const CONTAINER = `/cloud/v1/caas/${place(container)}/containers/${encodeURIComponent(container.name)}`;
const INSTANCE = `/cloud/v1/instances/${place(instance)}/${instance.id}`;
const POLICY = `/cloud/v1/lifecycle_policy/${place(policy)}/${policy.id}`;
const POOL = `/cloud/v1/lbpools/${place(pool)}/${pool.id}`;
const ROUTER = `/cloud/v1/routers/${place(router)}/${router.id}`;

test("a container is read with its published fields", async () => {
  const { status, body } = await call("GET", CONTAINER);

  // On a shared service other tests may change these values, so only their types are compared.
  const { name, source, namespace, address, created_at } = container;
  expect(status).toBe(200);
  expect(body).toMatchObject({ name, source, namespace, address, created_at });
  expect(Object.keys(body)).toEqual(
    expect.arrayContaining(
      Object.keys(container).filter((key) => key !== "project_id" && key !== "region_id"),
    ),
  );
});

test("an instance is read with every documented field", async () => {
  const { status, body } = await call("GET", INSTANCE);

  const { status: _, vm_state, task_state, ...lasting } = instance;
  expect(status).toBe(200);
  expect(body).toEqual({
    ...lasting,
    ddos_profile: null,
    status: expect.stringMatching(/^(ACTIVE|SUSPENDED)$/),
    vm_state: body.status.toLowerCase(),
    task_state,
  });
});

test("the DDoS profile of an instance is shown only with with_ddos=true", async () => {
  const shown = (await call("GET", `${INSTANCE}?with_ddos=true`)).body;
  const declined = (await call("GET", `${INSTANCE}?with_ddos=false`)).body;

  expect(shown.ddos_profile).toEqual(instance.ddos_profile);
  expect(declined.ddos_profile).toBeNull();
});

test("a policy is read with its volumes only with need_volumes=true", async () => {
  const shown = (await call("GET", `${POLICY}?need_volumes=true`)).body;
  const silent = (await call("GET", POLICY)).body;
  const declined = (await call("GET", `${POLICY}?need_volumes=false`)).body;

  const { volumes, ...rest } = shown;
  const { id, action, project_id, region_id, user_id, schedules } = policy;
  expect(rest).toMatchObject({ id, action, project_id, region_id, user_id, schedules });
  expect(policy.volumes).toEqual(expect.arrayContaining(volumes));
  expect([silent, declined]).toEqual([rest, rest]);
});

test("a pool is read with its published fields", async () => {
  const { status, body } = await call("GET", POOL);

  const { id, project_id, region_id, listeners, loadbalancers } = pool;
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, project_id, region_id, listeners, loadbalancers });
  expect(Object.keys(body)).toEqual(expect.arrayContaining(Object.keys(pool)));
});

test("a router is read with every stored field", async () => {
  const { status, body } = await call("GET", ROUTER);

  expect(status).toBe(200);
  expect(body).toEqual(router);
});

test.each([
  ["container", CONTAINER, container, "no-such-container"],
  ["instance", INSTANCE, instance, UNKNOWN_ID],
  ["policy", POLICY, policy, "987654321"],
  ["pool", POOL, pool, UNKNOWN_ID],
  ["router", ROUTER, router, UNKNOWN_ID],
])("a %s returns 404 by an unknown id or in another location", async (_, path, record, id) => {
  const unknown = `${path.slice(0, path.lastIndexOf("/"))}/${id}`;
  const paths = [
    unknown,
    ...elsewhere(record).map(([, where]) => path.replace(place(record), where)),
  ];

  const answers = await Promise.all(paths.map((one) => call("GET", one)));

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  for (const { body } of answers) expect(body.exception_class).toBe("NotFoundError");
});

test.each([
  ["with_ddos", `${INSTANCE}?with_ddos=maybe`],
  ["need_volumes", `${POLICY}?need_volumes=maybe`],
  ["fields", `${POOL}?fields=name`],
  ["pool_id", POOL.replace(pool.id, "my-pool")],
  ["router_id", ROUTER.replace(router.id, "my-router")],
  ["policy_id", POLICY.replace(/\d+$/, "first")],
  ["region_id", CONTAINER.replace(place(container), `${container.project_id}/luxembourg`)],
])("a read that breaks a rule of %s is refused", async (field, path) => {
  expect(refusedFields(await call("GET", path))).toEqual([field]);
});

test("the events are grouped by name, have no name, and include those of the initial state", async () => {
  const { status, body } = await call("GET", `${EVENT}s`);

  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    "reaching_files_quantity",
    "reaching_used_requests",
    "reaching_used_space",
    "reaching_used_traffic",
  ]);
  for (const { name, uuid, storage_name, bucket_name } of own("storage_events")) {
    expect(body[name]).toContainEqual(expect.objectContaining({ uuid, storage_name, bucket_name }));
  }
  expect(JSON.stringify(body)).not.toContain('"name"');
});

test("a deleted event no longer exists, the others stay, and deleting it again returns 404", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };
  await createEvent({ ...event, bucket_name: "kept" });
  const before = (await call("GET", `${EVENT}s`)).body;
  await createEvent(event);

  const deleted = await call("DELETE", EVENT, { body: event });
  const after = (await call("GET", `${EVENT}s`)).body;
  const again = await call("DELETE", EVENT, { body: event });
  const recreated = await createEvent(event);

  expect(deleted).toMatchObject({ status: 204, body: undefined });
  expect(after).toEqual(before);
  expect(again).toMatchObject({ status: 404, body: { error: expect.any(String) } });
  expect(recreated.status).toBe(200);
});

test.each([
  ["name", {}],
  ["name", { name: "reaching_the_moon" }],
  ["body", undefined],
])("a deletion that breaks a rule of %s is refused: %o", async (field, body) => {
  const refused = await call("DELETE", EVENT, { body });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: expect.stringMatching(new RegExp(`^${field}: `)) });
});

test("the event types contain the limit of each name", async () => {
  const { status, body } = await call("GET", `${EVENT}s/configurator`);

  const limits = body.structure.map(
    ({ name, fields }: { name: string; fields: { name: string; type: string }[] }) => [
      name,
      ...fields.filter(({ type }) => type === "number").map((field) => field.name),
    ],
  );
  expect(status).toBe(200);
  expect(limits).toEqual([
    ["reaching_used_space", "bytes"],
    ["reaching_files_quantity", "count"],
    ["reaching_used_traffic", "bytes"],
    ["reaching_used_requests", "count"],
  ]);
});
