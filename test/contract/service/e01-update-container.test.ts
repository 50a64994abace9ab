import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields } from "./target.ts";

const { call, runTask, one, elsewhere } = await openTarget();
const container = one("containers", ({ task_id }) => task_id === null);
const PATH = `/cloud/v1/caas/${place(container)}/containers/${encodeURIComponent(container.name)}`;

/** The fields of an update, without the fields that follow from them. */
const readSettings = async (): Promise<Answer["body"]> => {
  const { status, deploy_status, ...settings } = (await call("GET", PATH)).body;
  return settings;
};

const NO_TRIGGERS = { cpu: null, memory: null, http: null };
const LOGGING = { destination_region_id: container.region_id, topic_name: "team.logs-1" };

/** Two values for each field, so that one of them is always a change. */
test.each([
  ["commands", "serve --verbose", "serve"],
  ["description", "one", "another"],
  ["envs", { MODE: "one", EMPTY: "" }, { MODE: "another" }],
  ["flavor", "250mCPU-512MiB", "160mCPU-256MiB"],
  ["image", "redis:7", "registry.example.com/team/app:1"],
  ["is_disabled", true, false],
  ["listening_port", 8080, 8081],
  [
    "logging",
    { ...LOGGING, enabled: true, retention_policy: { period: 45 } },
    { ...LOGGING, enabled: false, retention_policy: null },
  ],
  ["pull_secret", "first-secret", "second-secret"],
  [
    "scale",
    { min: 2, max: 2, cooldown_period: 1, triggers: { ...NO_TRIGGERS, cpu: { threshold: 99 } } },
    { min: 0, max: 25, cooldown_period: 3600, triggers: { http: { rate: 1000, window: 3600 } } },
  ],
  ["timeout", 17, 18],
])(
  "an update of %s alone changes it and leaves the other fields",
  async (field, value, another) => {
    const before = await readSettings();
    const chosen = isDeepStrictEqual(before[field], value) ? another : value;

    const task = await runTask("PATCH", PATH, { [field]: chosen });

    expect(task).toMatchObject({ state: "FINISHED", task_type: "patch_caas_container" });
    expect(await readSettings()).toEqual({ ...before, [field]: chosen });
  },
);

test("an update may mix all fields, including is_disabled", async () => {
  const before = await readSettings();
  const mix = {
    is_disabled: true,
    is_api_key_auth: false,
    description: before.description === "mixed" ? "mixed again" : "mixed",
    envs: { MIXED: "1" },
    scale: { min: 1, max: 4, cooldown_period: 60, triggers: null },
    timeout: 0,
  };

  await runTask("PATCH", PATH, mix);

  expect(await readSettings()).toEqual({ ...before, ...mix });
});

test("null keeps the value of a field", async () => {
  await runTask("PATCH", PATH, { commands: "serve", pull_secret: "secret", description: "kept" });
  const before = (await call("GET", PATH)).body;

  const task = await runTask("PATCH", PATH, {
    commands: null,
    description: null,
    envs: null,
    flavor: null,
    image: null,
    is_api_key_auth: null,
    is_disabled: null,
    listening_port: null,
    logging: null,
    pull_secret: null,
    scale: null,
    timeout: null,
  });

  expect(task.state).toBe("FINISHED");
  expect(before).toMatchObject({ commands: "serve", pull_secret: "secret", description: "kept" });
  expect((await call("GET", PATH)).body).toEqual(before);
});

test("envs, logging and scale are replaced as a whole", async () => {
  await runTask("PATCH", PATH, {
    envs: { OLD: "1", MODE: "old" },
    logging: { ...LOGGING, enabled: true, retention_policy: { period: 1825 } },
    scale: { min: 1, max: 2, triggers: { cpu: { threshold: 1 } } },
  });

  await runTask("PATCH", PATH, {
    envs: { MODE: "new" },
    logging: { enabled: true },
    scale: { min: 25, max: 25 },
  });

  const { envs, logging, scale } = await readSettings();
  expect(envs).toEqual({ MODE: "new" });
  expect(logging).toMatchObject({ enabled: true, topic_name: null, retention_policy: null });
  expect(scale).toMatchObject({ min: 25, max: 25, triggers: null });
});

test("a disabled container is Disabled with nothing deployed, an enabled one is Ready", async () => {
  await runTask("PATCH", PATH, { is_disabled: true });
  const disabled = (await call("GET", PATH)).body;
  await runTask("PATCH", PATH, { is_disabled: false, scale: { min: 2, max: 3 } });
  const enabled = (await call("GET", PATH)).body;

  expect(disabled).toMatchObject({
    is_disabled: true,
    status: "Disabled",
    deploy_status: { total: 0, ready: 0 },
  });
  expect(enabled).toMatchObject({
    is_disabled: false,
    status: "Ready",
    deploy_status: { total: 2, ready: 2 },
  });
});

test("the task ends in ERROR and changes nothing when the registry cannot be reached", async () => {
  const before = (await call("GET", PATH)).body;

  const task = await runTask("PATCH", PATH, { image: "registry.invalid/app:1", timeout: 99 });

  expect(task).toMatchObject({
    state: "ERROR",
    error: expect.stringContaining("registry.invalid"),
  });
  expect(task.created_resources).toBeNull();
  expect((await call("GET", PATH)).body).toEqual(before);
});

test.each([
  ["is_api_key_auth", { is_api_key_auth: true }],
  ["scale.min", { scale: { min: 3, max: 2 } }],
  ["scale.max", { scale: { min: 0, max: 26 } }],
  ["scale.min", { scale: { min: -1, max: 2 } }],
  ["scale.max", { scale: { min: 1 } }],
  ["logging.retention_policy.period", { logging: { retention_policy: { period: 0 } } }],
  ["logging.retention_policy.period", { logging: { retention_policy: { period: 1826 } } }],
  ["logging.topic_name", { logging: { topic_name: "" } }],
  ["logging.topic_name", { logging: { topic_name: "-logs" } }],
  ["flavor", { flavor: "large" }],
  ["envs.PORT", { envs: { PORT: 80 } }],
  ["commands", { commands: ["serve"] }],
  ["is_disabled", { is_disabled: "yes" }],
  ["listening_port", { listening_port: 80.5 }],
  ["timeout", { timeout: "5" }],
  ["name", { name: "renamed" }],
  ["body", undefined],
  ["body", [{ timeout: 5 }]],
])("an update that breaks a rule of %s is refused and changes nothing", async (field, body) => {
  const before = (await call("GET", PATH)).body;

  const refused = await call("PATCH", PATH, { body });

  expect(refusedFields(refused)).toEqual([field]);
  expect((await call("GET", PATH)).body).toEqual(before);
});

test.each(elsewhere(container))("the container returns 404 in %s", async (_, where) => {
  const path = PATH.replace(place(container), where);

  const answer = await call("PATCH", path, { body: { timeout: 5 } });

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});

test("an unknown container name returns 404", async () => {
  const answer = await call("PATCH", `${PATH}-of-nobody`, { body: { timeout: 5 } });

  expect(answer.status).toBe(404);
});

test.each([
  [
    "the upper limits",
    {
      description: "d".repeat(255),
      image: "i".repeat(230),
      listening_port: 65_535,
      timeout: 180,
    },
  ],
  [
    "one below the upper limits",
    {
      description: "d".repeat(254),
      image: "i".repeat(229),
      listening_port: 65_534,
      timeout: 179,
    },
  ],
  ["the lower limits", { description: "", listening_port: 1, timeout: 0 }],
  ["one above the lower limits", { description: "d", listening_port: 2, timeout: 1 }],
  [
    "255 and 230 characters, counted as people count them",
    { description: "😀".repeat(255), image: "é".repeat(230) },
  ],
])("values at %s are accepted unchanged", async (_, values) => {
  const task = await runTask("PATCH", PATH, values);

  expect(task.state).toBe("FINISHED");
  expect((await call("GET", PATH)).body).toMatchObject(values);
});

test.each([
  ["description", "of 256 characters", "d".repeat(256)],
  ["description", "of 256 emoji", "😀".repeat(256)],
  ["image", "of 231 characters", "i".repeat(231)],
  ["listening_port", "0", 0],
  ["listening_port", "65536", 65_536],
  ["timeout", "-1", -1],
  ["timeout", "181", 181],
])("a %s %s is one over the limit: refused, and nothing changes", async (field, _, value) => {
  const before = (await call("GET", PATH)).body;

  const refused = await call("PATCH", PATH, { body: { [field]: value } });

  expect(refusedFields(refused)).toEqual([field]);
  expect((await call("GET", PATH)).body).toEqual(before);
});
