import { expect, test } from "vitest";
import { OPERATIONS } from "../../../lib/contract/operations.ts";
import { useLocalConsole } from "./use-local-console.ts";

const run = useLocalConsole();

const ask = async (path: string, body?: unknown) => {
  const response = await fetch(`${run.gateway.url}/provider${path}`, {
    headers: run.gateway.headers,
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any reply
  const answer: any = await response.json();
  return { status: response.status, body: answer };
};

const readTasks = async () => {
  const { provider } = run.automation;
  const headers = { authorization: `apikey ${await provider.apiKey()}` };
  return (await fetch(`${provider.baseUrl}/cloud/v1/tasks`, { headers })).status;
};

test("a fault rule is added, strikes, and is removed", async () => {
  const added = await ask("/faults", { rule: "list-tasks=status:2x,code=503" });
  const struck = await readTasks();
  const listed = await ask("/faults");
  const removed = await ask("/faults/fault-1/remove", {});

  const rule = "list-tasks=status:2x,code=503,body=documented,when=before-effect";
  expect(added).toEqual({ status: 202, body: { id: "fault-1", rule, struck: 0, left: 2 } });
  expect(struck).toBe(503);
  expect(listed.body).toEqual({
    rules: [{ id: "fault-1", rule, struck: 1, left: 1 }],
    operations: OPERATIONS.map(({ id }) => id),
    kinds: expect.arrayContaining(["status", "lost-reply-after", "slow"]),
  });
  expect([removed.status, removed.body.rules]).toEqual([202, []]);
  expect(await readTasks()).toBe(200);
  expect(await ask("/faults/fault-1/remove", {})).toEqual({
    status: 404,
    body: { error: "no such fault" },
  });
});

test.each([
  ["/faults", { rule: "list-task=reset" }, "did you mean list-tasks?"],
  ["/faults", { rule: "nonsense" }, "expected OPERATION=KIND"],
  ["/faults", {}, "rule: required"],
  ["/clock/advance", { by: "soon" }, "by: a time span such as 90s, 30m, 2h or 7d"],
])("a change at %s with the body %j is refused with what to write", async (path, body, error) => {
  const answer = await ask(path, body);

  expect(answer).toEqual({ status: 400, body: { error: expect.stringContaining(error) } });
  expect((await ask("/faults")).body.rules).toEqual([]);
});

test("the clock of the service is moved, stopped and resumed; that of Skyhook stays", async () => {
  const before = run.automation.deps.clock.now();
  const advanced = await ask("/clock/advance", { by: "1h" });
  const frozen = await ask("/clock/freeze", {});
  const read = await ask("/clock");
  const resumed = await ask("/clock/resume", {});

  expect(advanced).toMatchObject({ status: 202, body: { frozen: false, aheadMs: 3_600_000 } });
  expect([frozen.body.frozen, read.body.frozen, resumed.body.frozen]).toEqual([true, true, false]);
  expect(read.body.now).toBe(frozen.body.now);
  expect(run.automation.deps.clock.now() - before).toBeLessThan(3_600_000);
  for (let n = 0; n < 3; n += 1) await ask("/clock/advance", { by: "999999d" });
  expect(await ask("/clock/advance", { by: "999999d" })).toEqual({
    status: 400,
    body: { error: "by: the clock ends in the year 9999" },
  });
});
