import { describe, expect, test } from "vitest";
import { ruleNameOf } from "../../../lib/intake/reaction.ts";
import { PLACE, shared } from "../../support/requests.ts";
import { createIntakeWorld, EVENT_SOURCE, eventOf } from "./intake-world.ts";

const TEAM = "111111111111";
const STRANGER = "333333333333";
const EVENT_ID = "7bf73129-1428-4cd3-a780-95db273d1602";

const RESUME_WHEN_PAID = {
  name: "resume-when-paid",
  when: { source: ["billing"], "detail-type": ["InvoicePaid"] },
  account: "local",
  // biome-ignore lint/suspicious/noThenProperty: a field of the file
  then: {
    operation: "resume-instance",
    params: { ...PLACE, instance_id: "$.detail.instance.id" },
  },
};

describe("an event with a reaction", () => {
  const paid = (instance: string, fields: Readonly<Record<string, unknown>> = {}) =>
    eventOf(TEAM, "InvoicePaid", { instance: { id: instance } }, { source: "billing", ...fields });
  const INSTANCE = "6c6aa80f-7836-4dc2-a2ae-125e248be476";
  const withReaction = (...others: readonly object[]) =>
    createIntakeWorld({ rights: shared(TEAM), reactions: [RESUME_WHEN_PAID, ...others] });

  test("runs its command under the id EVENT_ID:RULE", async () => {
    const current = await withReaction();

    await current.putFor("resume-when-paid", paid(INSTANCE));
    await current.untilQuiet();

    const id = `${EVENT_ID}:resume-when-paid`;
    expect(current.publishedTypes(id)).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(await current.command(id, TEAM)).toMatchObject({
      operation: "resume-instance",
      causationId: EVENT_ID,
    });
  });

  test("that is delivered again makes the same command", async () => {
    const current = await withReaction();

    await current.putFor("resume-when-paid", paid(INSTANCE));
    await current.untilQuiet();
    await current.clock.advance(10 * 60_000);
    await current.putFor("resume-when-paid", paid(INSTANCE));
    await current.untilQuiet();

    expect(current.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("makes two commands if it matches two rules", async () => {
    const pause = {
      name: "pause-policy",
      when: RESUME_WHEN_PAID.when,
      account: "local",
      // biome-ignore lint/suspicious/noThenProperty: a field of the file
      then: {
        operation: "update-policy",
        params: { ...PLACE, policy_id: 1 },
        body: { status: "paused" },
      },
    };
    const current = await withReaction(pause);

    for (const rule of ["resume-when-paid", "pause-policy"])
      await current.putFor(rule, paid(INSTANCE));
    await current.untilQuiet();

    expect(current.publishedTypes(`${EVENT_ID}:resume-when-paid`).at(-1)).toBe("CommandSucceeded");
    expect(current.publishedTypes(`${EVENT_ID}:pause-policy`).at(-1)).toBe("CommandSucceeded");
  });

  test("that lacks a value is rejected with the missing path", async () => {
    const current = await withReaction();

    await current.putFor("resume-when-paid", { ...paid(INSTANCE), detail: { instance: {} } });

    const { metadata, data } = current.bus.published().at(-1)!;
    expect(metadata.commandId).toBe(`${EVENT_ID}:resume-when-paid`);
    expect(metadata.sender).toBe(TEAM);
    expect(data).toEqual({
      operation: "resume-instance",
      reason: "invalid",
      problems: [{ path: "$.detail.instance.id", rule: "not in the event" }],
    });
  });

  test("of an AWS account without rights is rejected", async () => {
    const current = await withReaction();

    await current.putFor("resume-when-paid", { ...paid(INSTANCE), account: STRANGER });

    expect(current.bus.published().at(-1)?.data.reason).toBe("not-allowed");
  });

  test("with our source from another AWS account is ignored", async () => {
    const current = await withReaction();

    await current.putFor("resume-when-paid", paid(INSTANCE, { source: EVENT_SOURCE }));

    expect(current.counted).toEqual(["EventIgnored foreign-source"]);
  });

  test("of a rule that this version does not know fails, so that it is delivered again", async () => {
    const current = await withReaction();

    await expect(current.putFor("newer", paid(INSTANCE))).rejects.toThrow("unknown reaction");
  });

  test("is also handled by the name of its rule, as in a dead letter of the rule", async () => {
    const name = "resume.again_when-invoices-were-paid-and-booked";
    const current = await withReaction({ ...RESUME_WHEN_PAID, name });

    await current.putFor(ruleNameOf(name), paid(INSTANCE));
    await current.untilQuiet();

    expect(current.publishedTypes(`${EVENT_ID}:${name}`)).toEqual([
      "CommandAccepted",
      "CommandSucceeded",
    ]);
  });
});
