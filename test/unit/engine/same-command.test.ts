import { describe, expect, test } from "vitest";
import { createFaults } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const EVENT = "reaching_used_space";

/** The same request in several spellings. */
const SPELLINGS = [
  `{"name":"${EVENT}","storage_name":"s","bucket_name":"b","bytes":500}`,
  `{"name":"${EVENT}","storage_name":"s","bucket_name":"b","bytes":"500"}`,
  `{"bytes":5e2,"bucket_name":"b","storage_name":"s","name":"${EVENT}"}`,
];
const createText = (body: string, rest = ""): string =>
  `{"metadata":{"commandId":"c1"},"data":{${rest}"operation":"create-storage-event","body":${body}}}`;

describe("a repeated request", () => {
  test("is the same command in any order of keys and spelling of numbers", async () => {
    const world = await createWorld({ provider: startProvider });

    for (const body of SPELLINGS) await world.send(createText(body));
    await world.send(createText(SPELLINGS[0]!, '"params":{},"query":{},"account":"local",'));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("stores bytes as a decimal string up to the largest that 64 bits hold", async () => {
    const world = await createWorld({ provider: startProvider });

    await world.handle(requests.createEvent("c1", { bytes: "18446744073709551615" }));

    expect(world.bus.published().at(-1)?.data.result).toMatchObject({
      bytes: "18446744073709551615",
    });
  });

  test("is the same command long after its end, and after its deadline", async () => {
    const world = await createWorld({ provider: startProvider });
    const deadline = new Date(world.clock.now() + 60_000).toISOString();
    const request = requests.updatePolicyWith("c1", { deadline });
    await world.handle(request);
    const before = await world.command("c1");

    // Nothing looks at the queue before the first `send`, so these days cost no time.
    await world.clock.advance(40 * 86_400_000);
    await world.send(request);
    await world.untilQuiet();

    expect(before?.state).toMatchObject({ status: "succeeded", settled: true });
    expect(await world.command("c1")).toEqual(before);
    expect(world.publishedTypes().filter((type) => type === "CommandRejected")).toEqual([]);
  });

  test.each(["fails before", "fails after"] as const)(
    "is the same command when the write that would create it %s",
    async (kind) => {
      const faults = createFaults();
      const world = await createWorld({ provider: startProvider, around: faults.around });
      const request = requests.updatePolicy("c1");
      await world.handle(request);
      const before = await world.command("c1");
      const nth = faults.calls.indexOf("ledger.write command#own/c1");
      const first = faults.calls.length;
      faults.strike(first + 1 + nth, kind);

      await world.handle(request);

      expect(faults.calls.slice(first, first + 3)).toEqual([
        ...[faults.calls[0], "ledger.write command#own/c1", "ledger.read command#own/c1"],
      ]);
      expect(await world.command("c1")).toEqual(before);
      expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
    },
  );

  test("under the id of another command is rejected without naming that command's id", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.updatePolicy("c1", { status: "paused" }));
    await world.untilQuiet();

    await world.send(requests.updatePolicy("c1", { status: "active" }));
    await world.untilQuiet();

    const rejection = world.bus.published().at(-1)!;
    expect(rejection.detailType).toBe("CommandRejected");
    expect(rejection.data).toMatchObject({ reason: "id-reused", requestedCommandId: "c1" });
    expect(rejection.metadata).not.toHaveProperty("commandId");
    expect((await world.command("c1"))?.state).toMatchObject({ status: "succeeded" });
  });

  test("with another deadline is another payload", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.updateContainer("c1"));
    const deadline = new Date(world.clock.now() + 60_000).toISOString();

    await world.send(requests.updateContainer("c1", {}, { deadline }));
    await world.untilQuiet();

    expect(world.publishedTypes()).toContain("CommandRejected");
  });

  const network = { ...requests.PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
  const guards = [{ network, key: "cost-center", equals: "platform" }];
  const other = { network, key: "owner", absent: true };
  test.each([
    ["other guards", { guards }, { guards: [{ ...guards[0], equals: "games" }] }],
    ["guards, after one without", {}, { guards }],
    ["no guards, after one with some", { guards }, {}],
    ["guards in another order", { guards: [guards[0], other] }, { guards: [other, guards[0]] }],
    ["another command to wait for", { after: ["c0"] }, { after: ["c9"] }],
    ["a dry run, after the command itself", {}, { dryRun: true }],
  ])("with %s is another payload", async (_what, first, second) => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.resumeInstance("c1", first));

    await world.send(requests.resumeInstance("c1", second));
    await world.deliver();

    const rejection = world.bus.published().find(({ data }) => data.reason === "id-reused");
    expect(rejection?.data).toMatchObject({ requestedCommandId: "c1" });
  });

  test("that is invalid and has the id of a command does not end that command", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.updatePolicy("c1"));
    await world.untilQuiet();

    await world.send(requests.updatePolicy("c1", { status: "broken" }));
    await world.untilQuiet();

    const rejection = world.bus.published().at(-1)!;
    expect(rejection.metadata).not.toHaveProperty("commandId");
    expect(rejection.data).toMatchObject({ reason: "invalid", requestedCommandId: "c1" });
  });
});

test("without a command id the event's id identifies the command", async () => {
  const world = await createWorld({ provider: startProvider });
  const { data } = requests.updatePolicy("unused");

  await world.send({ metadata: { id: "event-9" }, data });
  await world.untilQuiet();

  expect((await world.command("event-9"))?.state).toMatchObject({ status: "succeeded" });
});

test("a command id of any characters passes through the queue", async () => {
  const world = await createWorld({ provider: startProvider });
  // The sender escapes the characters that SQS refuses.
  const odd = "\uffff \u0000/#é🙂";
  const text = JSON.stringify(requests.updateContainer(odd, { description: "odd" }));
  await world.send(requests.updateContainer("first"));
  await world.send(text.replaceAll("\uffff", "\\uffff"));

  await world.untilQuiet();

  expect((await world.command(odd))?.state).toMatchObject({ status: "succeeded" });
  expect(world.errors).toEqual([]);
});
