import fc from "fast-check";
import { expect, test } from "vitest";
import { healthMonitorSchema } from "../../../lib/contract/load-balancer-pools.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { POOL, startService } from "./harness.ts";

const MONITOR = { delay: 10, timeout: 5, max_retries: 2 };
/** Fields of the published record: the required ones and three optional ones. */
const FIELDS = [
  "delay",
  "max_retries",
  "timeout",
  "id",
  "type",
  "max_retries_down",
  "operating_status",
  "provisioning_status",
  "admin_state_up",
  "http_version",
  "domain_name",
  "http_method",
  "url_path",
  "expected_codes",
] as const;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Sets the monitor, lets the task end and returns the resulting monitor. */
const monitorOf = async (
  { send, runTask }: Pick<Awaited<ReturnType<typeof startService>>, "send" | "runTask">,
  healthmonitor: object | null,
) => {
  await runTask("PATCH", POOL, { healthmonitor });
  return (await send("GET", POOL)).body.healthmonitor;
};

test("a monitor has every field that the published record requires", async () => {
  const service = await startService();

  const shown = await monitorOf(service, MONITOR);

  expect(shown).toEqual({
    id: expect.stringMatching(UUID),
    type: "HTTP",
    ...MONITOR,
    max_retries_down: 3,
    admin_state_up: true,
    http_method: null,
    http_version: null,
    url_path: null,
    expected_codes: null,
    domain_name: null,
    operating_status: "ONLINE",
    provisioning_status: "ACTIVE",
  });
});

test("a disabled monitor is offline", async () => {
  const shown = await monitorOf(await startService(), { ...MONITOR, admin_state_up: false });

  expect(shown.operating_status).toBe("OFFLINE");
});

test("until it is cleared, a monitor keeps its id, and its type if the update omits it", async () => {
  const service = await startService();
  const http = { http_method: "GET", url_path: "/health", domain_name: "a.example" };

  const first = await monitorOf(service, { ...MONITOR, type: "HTTPS", ...http });
  const replaced = await monitorOf(service, { ...MONITOR, delay: 20 });
  const typed = await monitorOf(service, { ...MONITOR, type: "TCP" });
  const kept = await monitorOf(service, { ...MONITOR, type: null, delay: 30 });
  const cleared = await monitorOf(service, null);
  const second = await monitorOf(service, MONITOR);

  expect([first.type, replaced.type, typed.type, kept.type]).toEqual([
    "HTTPS",
    "HTTPS",
    "TCP",
    "TCP",
  ]);
  expect(replaced).toMatchObject({
    delay: 20,
    http_method: null,
    url_path: null,
    domain_name: null,
  });
  expect([replaced.id, typed.id, kept.id]).toEqual([first.id, first.id, first.id]);
  expect([cleared, second.type]).toEqual([null, "HTTP"]);
  expect(second.id).not.toBe(first.id);
});

test("sending a monitor as it was read changes nothing", async () => {
  const service = await startService();
  const shown = await monitorOf(service, {
    ...MONITOR,
    type: "HTTP",
    expected_codes: "200,300-302",
  });

  const again = await service.send("PATCH", POOL, { body: { healthmonitor: shown } });
  const otherId = await service.send("PATCH", POOL, {
    body: {
      healthmonitor: {
        ...shown,
        id: "00000000-0000-4000-8000-000000000009",
        operating_status: "X",
      },
    },
  });

  expect([again.body, otherId.body]).toEqual([{ tasks: [] }, { tasks: [] }]);
});

test("HTTP fields are refused if the monitor keeps another type", async () => {
  const service = await startService();
  const before = await monitorOf(service, { ...MONITOR, type: "PING" });

  const refused = await service.send("PATCH", POOL, {
    body: { healthmonitor: { ...MONITOR, url_path: "/health" } },
  });

  expect(refused.status).toBe(400);
  expect(refused.body.invalid_fields).toEqual({
    "healthmonitor.type": [
      "must be HTTP or HTTPS when any of these is set: http_method, http_version, url_path, expected_codes, domain_name",
    ],
  });
  expect((await service.send("GET", POOL)).body.healthmonitor).toEqual(before);
});

test("a monitor stored by an earlier version is complete, with the same id after every start", async () => {
  const store = createMemoryStore();
  const first = await startService({ store });
  await monitorOf(first, MONITOR);
  const key = "load_balancer_pools/9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
  const pool = (await first.stored())[key];
  const old = { ...MONITOR, max_retries_down: 3, expected_codes: "any" };
  await store.commit(new Map([[key, JSON.stringify({ ...pool, healthmonitor: old })]]));
  const shownAfterStart = async () =>
    (await (await startService({ store })).send("GET", POOL)).body.healthmonitor;

  const shown = await shownAfterStart();

  expect(shown).toMatchObject({
    ...old,
    id: expect.stringMatching(UUID),
    type: "HTTP",
    http_version: null,
    domain_name: null,
    operating_status: "ONLINE",
    provisioning_status: "ACTIVE",
  });
  expect(await shownAfterStart()).toEqual(shown);
});

const HTTP_ONLY = {
  http_method: fc.constantFrom("GET", "HEAD", null),
  http_version: fc.constantFrom("1.0", "1.1", null),
  url_path: fc.constantFrom("/", "/health", null),
  expected_codes: fc.constantFrom("200", "200,300-302", null),
  domain_name: fc.constantFrom("a.example", null),
};

const anyMonitor = fc.record(
  {
    delay: fc.integer({ min: 6, max: 2_147_483_647 }),
    timeout: fc.integer({ min: 0, max: 5 }),
    max_retries: fc.integer({ min: 1, max: 10 }),
    max_retries_down: fc.integer({ min: 1, max: 10 }),
    admin_state_up: fc.boolean(),
    type: fc.constantFrom(...healthMonitorSchema().shape.type.unwrap().unwrap().options, null),
    ...HTTP_ONLY,
  },
  { requiredKeys: ["delay", "timeout", "max_retries"] },
);

test("after any updates a monitor is complete and valid, and sending it back changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(anyMonitor), { maxLength: 5 }), async (updates) => {
      const { send, clock } = await startService();
      for (const healthmonitor of updates) {
        const { status } = await send("PATCH", POOL, { body: { healthmonitor } });
        expect([200, 400]).toContain(status);
        await clock.advance(10_000);
        const shown = (await send("GET", POOL)).body.healthmonitor;
        if (status === 200) expect(shown === null).toBe(healthmonitor === null);
        if (shown === null) continue;
        expect(Object.keys(shown).sort()).toEqual([...FIELDS].sort());
        expect(healthMonitorSchema().safeParse(shown).error).toBeUndefined();
        const again = await send("PATCH", POOL, { body: { healthmonitor: shown } });
        expect(again.body).toEqual({ tasks: [] });
      }
    }),
    { numRuns: 60 },
  );
});
