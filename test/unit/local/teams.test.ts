import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseReactions } from "../../../lib/intake/reactions-config.ts";
import type { Automation } from "../../../lib/local/automation.ts";
import type { BusEvent } from "../../../lib/local/local-bus.ts";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { type LocalConsole, openLocalConsole } from "../../support/local-console.ts";
import { updatePolicy } from "../../support/requests.ts";
import { openQuietly } from "./open-quietly.ts";

const TEAM = "111111111111";
const OTHER_TEAM = "222222222222";
const STRANGER = "333333333333";
const OWN = "000000000000";
const PLACE = { project_id: 1234567, region_id: 76 };

const bus = (id: string) => `arn:aws:events:us-east-1:${id}:event-bus/own`;
const accounts = toAccountsConfig({
  accounts: [{ name: "local", senders: ["own", TEAM, OTHER_TEAM], requests_per_second: 1000 }],
  aws_accounts: [
    { id: TEAM, bus: bus(TEAM) },
    { id: OTHER_TEAM, bus: bus(OTHER_TEAM) },
  ],
});

const reaction = (name: string, when: object, policy: number, fields: object = {}) => ({
  name,
  when,
  account: "local",
  // biome-ignore lint/suspicious/noThenProperty: a field of the file
  then: {
    operation: "update-policy",
    params: { ...PLACE, policy_id: policy },
    body: { status: "$.detail.status" },
  },
  ...fields,
});

const REACTIONS = {
  reactions: [
    reaction("on-change", { source: ["team"], detail: { status: [{ prefix: "a" }] } }, 1),
    reaction("on-upload", { source: ["aws.s3"] }, 1, { bus: "default" }),
    reaction("on-ai-end", { source: ["skyhook"], "detail-type": ["AiTaskEnded"] }, 1, {
      // biome-ignore lint/suspicious/noThenProperty: a field of the file
      then: {
        operation: "update-policy",
        params: { ...PLACE, policy_id: 1 },
        body: { status: "paused" },
      },
    }),
  ],
};

let automation: Automation;
let gateway: LocalConsole;

beforeEach(async () => {
  const reactions = parseReactions(REACTIONS, { accounts, eventSource: "skyhook" });
  if (reactions.kind === "invalid") throw new Error(JSON.stringify(reactions.problems));
  automation = await openQuietly({ accounts, reactions: reactions.value });
  gateway = await openLocalConsole(automation);
});

afterEach(async () => {
  await gateway.close();
  await automation.stop();
});

/** Resolves with the first event of a type that reaches the bus. */
const first = (
  subscribe: (handler: (event: BusEvent) => Promise<void>) => void,
  detailType: string,
): Promise<BusEvent> =>
  new Promise((resolve) => {
    subscribe(async (event) => {
      if (event["detail-type"] === detailType) resolve(event);
    });
  });

const onBusOf = (awsAccount: string, detailType: string) =>
  first((handler) => automation.routes.subscribeAs(awsAccount, handler), detailType);
const onOwnBus = (detailType: string) => first(automation.bus.subscribeToOwn, detailType);

const changed = (account: string, status: string) => ({
  source: "team",
  "detail-type": "StatusChanged",
  account,
  detail: { status },
});

describe("teams in other AWS accounts", () => {
  it("receive the end of their own command on their bus, and no other team receives it", async () => {
    const ended = onBusOf(TEAM, "CommandSucceeded");
    const seenByOther: BusEvent[] = [];
    automation.routes.subscribeAs(OTHER_TEAM, async (event) => void seenByOther.push(event));
    automation.start();

    await automation.routes.put(changed(TEAM, "active"));

    expect((await ended).account).toBe(OWN);
    expect((await ended).detail).toMatchObject({ metadata: { sender: TEAM } });
    await automation.bus.delivered();
    expect(seenByOther).toEqual([]);
  });

  it("may send a CommandRequested", async () => {
    const ended = onBusOf(OTHER_TEAM, "CommandSucceeded");
    automation.start();

    await automation.routes.put({
      source: "their.tool",
      "detail-type": "CommandRequested",
      account: OTHER_TEAM,
      detail: JSON.parse(JSON.stringify(updatePolicy("c1"))),
    });

    expect((await ended).detail).toMatchObject({ metadata: { commandId: "c1" } });
  });

  it.each([
    ["that are not known", { ...changed(STRANGER, "active") }, "may not put events"],
    ["of AWS services", { ...changed(OWN, "a"), source: "aws.s3" }, "on the default bus"],
    [
      "that use Skyhook's source",
      { ...changed(TEAM, "active"), source: "skyhook" },
      "is reserved for Skyhook's own events",
    ],
  ])("%s are refused by the policy of the bus", async (_what, event, rule) => {
    automation.start();

    await expect(automation.routes.put(event)).rejects.toThrow(rule);
  });

  it("cannot reach the default bus", async () => {
    const event = { ...changed(TEAM, "active"), source: "aws.s3" };

    await expect(automation.routes.put(event, true)).rejects.toThrow(
      "only events of Skyhook's own AWS account",
    );
  });

  it("cause nothing with an event that matches no pattern", async () => {
    automation.start();

    const { id } = await automation.routes.put(changed(TEAM, "paused"));
    await automation.bus.delivered();

    expect(automation.isQueued(id)).toBe(false);
    expect(await automation.deps.ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });
});

describe("Skyhook's own AWS account", () => {
  it("reacts to events of AWS services on the default bus", async () => {
    const ended = onOwnBus("CommandSucceeded");
    automation.start();

    await automation.routes.put(
      { source: "aws.s3", "detail-type": "Object Created", detail: { status: "active" } },
      true,
    );

    expect((await ended).detail).toMatchObject({ metadata: { sender: OWN } });
  });

  it("reacts to Skyhook's own event", async () => {
    const ended = onOwnBus("CommandSucceeded");
    automation.start();

    await automation.bus.put({ source: "skyhook", "detail-type": "AiTaskEnded", detail: {} });

    expect((await ended).detail).toMatchObject({ data: { operation: "update-policy" } });
  });
});

describe("GET /commands/ID", () => {
  it("shows a command of another AWS account if the request names that account", async () => {
    const ended = onBusOf(TEAM, "CommandSucceeded");
    automation.start();
    const { id } = await automation.routes.put(changed(TEAM, "active"));
    await ended;

    const { headers } = gateway;
    const url = `${gateway.url}/commands/${id}:on-change`;
    const [own, theirs] = await Promise.all([
      fetch(url, { headers }),
      fetch(`${url}?sender=${TEAM}`, { headers }),
    ]);

    expect([own.status, theirs.status]).toEqual([404, 200]);
    expect(await theirs.json()).toMatchObject({ sender: TEAM, status: "succeeded" });
  });
});

describe("POST /events", () => {
  const post = (body: unknown, type = "application/json") =>
    fetch(`${gateway.url}/events`, {
      method: "POST",
      headers: { ...gateway.headers, "content-type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  it("puts an event as the AWS account in its `account`", async () => {
    const ended = onBusOf(TEAM, "CommandSucceeded");
    automation.start();

    const response = await post(changed(TEAM, "active"));

    expect(response.status).toBe(202);
    await ended;
  });

  it.each([
    [400, "no JSON", "not readable as JSON"],
    [400, { ...changed("team", "a") }, "account: must be an AWS account id of 12 digits"],
    [400, { ...changed(TEAM, "a"), bus: "other" }, "bus: must be default, or left out"],
    [403, changed(STRANGER, "a"), "AWS account 333333333333 may not put events"],
  ])("answers %i to an invalid or refused event", async (status, body, error) => {
    const response = await post(body);

    expect(response.status).toBe(status);
    expect(JSON.stringify(await response.json())).toContain(error.split(";")[0]);
  });

  it("refuses requests that a web page can send", async () => {
    expect((await post(changed(TEAM, "active"), "text/plain")).status).toBe(415);
  });
});
