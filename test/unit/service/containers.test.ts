import { expect, test } from "vitest";
import { CONTAINER, CONTAINER_RECORD, startService } from "./harness.ts";

test("an update returns one task, and the record changes when the task has finished", async () => {
  const { send, stored, clock } = await startService();

  const accepted = await send("PATCH", CONTAINER, {
    body: { image: "redis:7", listening_port: 6379, timeout: 0, description: "cache" },
  });

  expect(accepted.status).toBe(200);
  expect(accepted.body).toEqual({ tasks: [expect.any(String)] });
  expect((await stored())[CONTAINER_RECORD]).toMatchObject({ image: "nginx:latest" });
  await clock.advance(10_000);
  const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
  expect(task.body).toMatchObject({ state: "FINISHED", task_type: "patch_caas_container" });
  expect((await stored())[CONTAINER_RECORD]).toMatchObject({
    image: "redis:7",
    listening_port: 6379,
    timeout: 0,
    description: "cache",
    flavor: "80mCPU-128MiB",
    task_id: null,
  });
});

test("null keeps the value of a field", async () => {
  const { runTask, stored } = await startService();

  const task = await runTask("PATCH", CONTAINER, {
    image: null,
    description: null,
    is_disabled: null,
    listening_port: null,
    timeout: null,
    flavor: null,
    commands: null,
    pull_secret: null,
    is_api_key_auth: null,
  });

  expect(task.state).toBe("FINISHED");
  expect((await stored())[CONTAINER_RECORD]).toMatchObject({
    image: "nginx:latest",
    description: "",
    is_disabled: false,
    listening_port: 80,
    timeout: 120,
    flavor: "80mCPU-128MiB",
    status: "Ready",
  });
});

test("envs, scale and logging are replaced as a whole", async () => {
  const { runTask, stored } = await startService();

  await runTask("PATCH", CONTAINER, {
    envs: { MODE: "fast" },
    scale: { min: 2, max: 2 },
    logging: { enabled: true, topic_name: "my-log-name", retention_policy: { period: 45 } },
  });

  expect((await stored())[CONTAINER_RECORD]).toMatchObject({
    envs: { MODE: "fast" },
    scale: { min: 2, max: 2, cooldown_period: 60, triggers: null },
    deploy_status: { total: 2, ready: 2 },
    logging: {
      destination_region_id: null,
      enabled: true,
      topic_name: "my-log-name",
      retention_policy: { period: 45 },
    },
  });
  expect((await stored())[CONTAINER_RECORD].envs).toEqual({ MODE: "fast" });
});

test("disabling makes the status Disabled, enabling makes it Ready", async () => {
  const { runTask, stored } = await startService();

  await runTask("PATCH", CONTAINER, { is_disabled: true, description: "off" });
  const disabled = (await stored())[CONTAINER_RECORD];
  await runTask("PATCH", CONTAINER, { is_disabled: false });
  const enabled = (await stored())[CONTAINER_RECORD];

  expect(disabled).toMatchObject({
    is_disabled: true,
    status: "Disabled",
    description: "off",
    deploy_status: { total: 0, ready: 0 },
  });
  expect(enabled).toMatchObject({
    is_disabled: false,
    status: "Ready",
    deploy_status: { total: 1, ready: 1 },
  });
});

test("a container is locked by its task until the task has ended", async () => {
  const { send, clock } = await startService();
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 1 } });

  const atOnce = await send("PATCH", CONTAINER, { body: { timeout: 2 } });
  await clock.advance(9_999);
  const justBefore = await send("PATCH", CONTAINER, { body: { timeout: 3 } });
  await clock.advance(1);
  const after = await send("PATCH", CONTAINER, { body: { timeout: 4 } });

  expect([atOnce.status, justBefore.status, after.status]).toEqual([409, 409, 200]);
  expect(atOnce.body).toMatchObject({
    exception_class: "ConflictError",
    message: `task ${accepted.body.tasks[0]} locks the container; retry when the task has ended`,
  });
});

test("the task fails and nothing changes when the registry of the image cannot be reached", async () => {
  const { runTask, stored, send } = await startService();

  const task = await runTask("PATCH", CONTAINER, {
    image: "registry.invalid/team/app:1",
    timeout: 7,
  });

  expect(task).toMatchObject({
    state: "ERROR",
    error: "image registry.invalid/team/app:1: the registry cannot be reached",
    created_resources: null,
  });
  expect((await stored())[CONTAINER_RECORD]).toMatchObject({
    image: "nginx:latest",
    timeout: 120,
    task_id: null,
  });
  expect((await send("PATCH", CONTAINER, { body: { timeout: 8 } })).status).toBe(200);
});

test.each(["app.invalid:1", "invalid", "team/invalid/app:1", "notinvalid/app"])(
  "the image %s comes from a registry that may exist",
  async (image) => {
    const { runTask } = await startService();

    const task = await runTask("PATCH", CONTAINER, { image });

    expect(task.state).toBe("FINISHED");
  },
);

test("the data of the task contains the parameters without variables and pull secret", async () => {
  const { runTask, stored } = await startService();

  const task = await runTask("PATCH", CONTAINER, {
    timeout: 9,
    envs: { TOKEN: "hush-1" },
    pull_secret: "my-registry-secret",
  });

  expect(task.data).toEqual({ container_name: "my-container", timeout: 9 });
  expect(task).not.toHaveProperty("plan");
  expect(JSON.stringify((await stored())[`tasks/${task.id}`])).not.toMatch(/hush-1|my-registry/);
});

test("an update needs a body", async () => {
  const { send } = await startService();

  const refused = await send("PATCH", CONTAINER);

  expect(refused.status).toBe(400);
  expect(refused.body.invalid_fields).toEqual({ body: ["required"] });
});

test.each([
  ["an unknown name", "/cloud/v1/caas/1234567/76/containers/nobody"],
  ["another region", "/cloud/v1/caas/1234567/148/containers/my-container"],
  ["another project", "/cloud/v1/caas/1186668/76/containers/my-container"],
  ["a foreign project", "/cloud/v1/caas/1337/76/containers/my-container"],
])("updating and reading by %s returns 404", async (_, path) => {
  const { send } = await startService();

  const refused = await send("PATCH", path, { body: { timeout: 5 } });
  const read = await send("GET", path);

  expect([refused.status, read.status]).toEqual([404, 404]);
  expect(refused.body).toMatchObject({ message: "container not found" });
  expect(read.body).toMatchObject({ message: "container not found" });
});

test("reading a container returns the published record and its lock", async () => {
  const { send } = await startService();

  const read = await send("GET", CONTAINER);

  expect(read.status).toBe(200);
  expect(read.body).toEqual({
    name: "my-container",
    description: "",
    image: "nginx:latest",
    flavor: "80mCPU-128MiB",
    source: "cloud",
    namespace: "default",
    address: "https://my-container-76-1234567.containers.example.com/",
    status: "Ready",
    status_message: null,
    commands: null,
    listening_port: 80,
    timeout: 120,
    is_disabled: false,
    is_api_key_auth: false,
    envs: { LOG_LEVEL: "info" },
    pull_secret: null,
    scale: { min: 1, max: 3, cooldown_period: 60, triggers: { cpu: { threshold: 80 } } },
    deploy_status: { total: 1, ready: 1 },
    logging: {
      destination_region_id: null,
      enabled: false,
      retention_policy: null,
      topic_name: null,
    },
    created_at: "2025-11-20T09:00:00Z",
    task_id: null,
  });
});

test("a read shows the task that locks a container, and the change when the task has ended", async () => {
  const { send, clock } = await startService();
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 7 } });

  const held = await send("GET", CONTAINER);
  await clock.advance(10_000);
  const changed = await send("GET", CONTAINER);

  expect(held.body).toMatchObject({ task_id: accepted.body.tasks[0], timeout: 120 });
  expect(changed.body).toMatchObject({ task_id: null, timeout: 7 });
});

test.each([
  ["description at 255", { description: "d".repeat(255) }],
  ["description of 255 emoji", { description: "😀".repeat(255) }],
  ["image at 230", { image: "i".repeat(230) }],
  ["port 1", { listening_port: 1 }],
  ["port 65535", { listening_port: 65535 }],
  ["timeout 0", { timeout: 0 }],
  ["timeout 180", { timeout: 180 }],
  ["key authentication disabled", { is_api_key_auth: false }],
  ["nothing at all", {}],
])("an update with %s is accepted", async (_, body) => {
  const { send } = await startService();

  const accepted = await send("PATCH", CONTAINER, { body });

  expect(accepted.status).toBe(200);
});

test("a refusal names the field and the rule, with a request id", async () => {
  const { send } = await startService();

  const refused = await send("PATCH", CONTAINER, { body: { description: "d".repeat(256) } });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({
    exception_class: "ValidationError",
    message: "description: at most 255 characters",
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    invalid_fields: { description: ["at most 255 characters"] },
  });
});

test.each([
  ["description", { description: "d".repeat(256) }],
  ["description", { description: "😀".repeat(256) }],
  ["image", { image: "i".repeat(231) }],
  ["listening_port", { listening_port: 0 }],
  ["listening_port", { listening_port: 65536 }],
  ["timeout", { timeout: -1 }],
  ["timeout", { timeout: 181 }],
  ["timeout", { timeout: 1.5 }],
  ["timeout", { timeout: "5" }],
  ["is_api_key_auth", { is_api_key_auth: true }],
  ["scale.min", { scale: { min: 3, max: 2 } }],
  ["scale.max", { scale: { min: 0 } }],
  ["envs.A", { envs: { A: 1 } }],
  ["colour", { colour: "red" }],
])("an update that breaks a rule of %s is refused and changes nothing: %j", async (field, body) => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("PATCH", CONTAINER, { body });

  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  expect(await stored()).toEqual(before);
});
