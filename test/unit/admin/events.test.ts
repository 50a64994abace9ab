import { describe, expect, test } from "vitest";
import { updatePolicy } from "../../support/requests.ts";
import { reactionsOf } from "../intake/read-file.ts";
import {
  contextOf,
  DAY_MS,
  explained,
  failed,
  ledgerWith,
  NOW,
  OTHER_TEAM,
} from "./sample-dead-letters.ts";

/** An event as a message of intake's queue. */
const eventOf = (detail: unknown, fields: object = {}) => ({
  version: "0",
  id: "7bf73129-1428-4cd3-a780-95db273d1602",
  "detail-type": "CommandRequested",
  source: "team",
  account: OTHER_TEAM,
  time: new Date(NOW - DAY_MS).toISOString(),
  region: "eu-west-1",
  resources: [],
  detail,
  ...fields,
});

const REQUESTS = { queue: "requests", groupId: undefined } as const;
const explainedEvent = (body: unknown, context = contextOf()) => explained(body, context, REQUESTS);

describe("an event that intake has not accepted", () => {
  test("is explained by the command that it requests", async () => {
    const explanation = await explainedEvent(eventOf(updatePolicy("p1")));

    expect(explanation).toMatchObject({
      kind: "request",
      what: "a request event of AWS account 111122223333, not accepted by intake",
      sender: OTHER_TEAM,
      commandId: "p1",
      operation: "update-policy",
      standing: "not in the ledger: never accepted",
      redrive: "runs it",
      advice: "redrive",
      deletingLoses: "command",
    });
    expect(explanation).not.toHaveProperty("groupId");
  });

  test("to follow a task is explained as a follow-task command", async () => {
    const detail = { metadata: { commandId: "f1" }, data: { taskId: "t1" } };

    expect(
      await explainedEvent(eventOf(detail, { "detail-type": "TaskFollowRequested" })),
    ).toMatchObject({ operation: "follow-task", commandId: "f1", advice: "redrive" });
  });

  test("whose command has ended should be deleted", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { sender: OTHER_TEAM, state: failed });

    expect(await explainedEvent(eventOf(updatePolicy("p1")), contextOf({}, ledger))).toMatchObject({
      redrive: "changes nothing",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("for a reaction is explained by the reaction and the command's id", async () => {
    const event = eventOf({ instance: "i1", envs: "secret" }, { "detail-type": "InvoicePaid" });

    const explanation = await explainedEvent({ reaction: "paid", event });

    expect(explanation).toMatchObject({
      kind: "reaction",
      what: "an event of AWS account 111122223333 for the reaction paid, not accepted by intake",
      sender: OTHER_TEAM,
      commandId: `${event.id}:paid`,
      standing:
        "not in the ledger under this id; a rule with `key` creates its command under another id",
      redrive: "sends it to intake again, which applies the reaction",
      advice: "redrive",
      deletingLoses: "command",
    });
    expect(JSON.stringify(explanation)).not.toContain("secret");
  });

  test("for a reaction whose command is in the ledger should be deleted", async () => {
    const event = eventOf({}, { "detail-type": "InvoicePaid" });
    const ledger = await ledgerWith(updatePolicy(`${event.id}:paid`), {
      sender: OTHER_TEAM,
      state: failed,
    });

    expect(await explainedEvent({ reaction: "paid", event }, contextOf({}, ledger))).toMatchObject({
      standing: expect.stringContaining("in the ledger: ended"),
      advice: "delete",
    });
  });

  test("for a reaction with a key is found under the command id from the key", async () => {
    const event = eventOf({ invoice: "inv-7" }, { "detail-type": "InvoicePaid" });
    const reactions = reactionsOf(`
reactions:
  - name: paid
    when: { source: [billing] }
    key: $.detail.invoice
    account: main
    then: { operation: update-policy, params: { project_id: 1, region_id: 1, policy_id: 1 }, body: { status: active } }
`);
    const ledger = await ledgerWith(updatePolicy("inv-7:paid"), {
      sender: OTHER_TEAM,
      state: failed,
    });

    const known = await explainedEvent(
      { reaction: "paid", event },
      contextOf({ reactions }, ledger),
    );
    const unknown = await explainedEvent({ reaction: "paid", event }, contextOf({ reactions }));

    expect(known).toMatchObject({
      commandId: "inv-7:paid",
      standing: expect.stringContaining("in the ledger: ended"),
      advice: "delete",
    });
    expect(unknown).toMatchObject({
      commandId: "inv-7:paid",
      standing: "not in the ledger: never accepted",
      advice: "redrive",
    });
  });

  test.each([
    ["no JSON", "{"],
    ["not an event", "[]"],
    ["an event of another type", eventOf({}, { "detail-type": "Other" })],
  ])("is ignored by intake: %s", async (_what, body) => {
    expect(await explainedEvent(body)).toMatchObject({
      kind: "ignored",
      standing: "no command",
      redrive: "changes nothing: intake ignores it",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });
});
