import { type IntakeDeps, ingest } from "../../../lib/intake/ingest.ts";
import { parseReactions } from "../../../lib/intake/reactions-config.ts";
import type { AccountsConfig } from "../../../lib/provider/accounts-config.ts";
import type { Around } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

export const EVENT_SOURCE = "skyhook";
/** The AWS account of the test world. */
export const OWN = "999999999999";

export interface IntakeWorldOptions {
  readonly rights: AccountsConfig;
  readonly accounts?: Required<WorldOptions>["accounts"];
  readonly provider?: WorldOptions["provider"];
  readonly around?: Around;
  /** The list `reactions` of a reactions file. */
  readonly reactions?: readonly object[];
}

type Event = Readonly<Record<string, unknown>>;

/** An event as EventBridge delivers it to a target; `fields` override its fields. */
export const eventOf = (
  account: string,
  detailType: string,
  detail: unknown,
  fields: Event = {},
) => ({
  version: "0",
  id: "7bf73129-1428-4cd3-a780-95db273d1602",
  "detail-type": detailType,
  source: "team",
  account,
  time: "2026-01-01T00:00:00Z",
  region: "eu-west-1",
  resources: [],
  detail,
  ...fields,
});

/** The reaction `react`, which updates a policy after any event of the team. */
export const updateReaction = (body: object) => ({
  name: "react",
  when: { source: ["team"] },
  account: "local",
  // biome-ignore lint/suspicious/noThenProperty: a field of the file
  then: {
    operation: "update-policy",
    params: { project_id: 1234567, region_id: 76, policy_id: 1 },
    body,
  },
});

/** Creates the whole path from a bus event to the provider, in virtual time. */
export const createIntakeWorld = async (options: IntakeWorldOptions) => {
  const { rights, reactions = [], provider = startProvider, ...world } = options;
  const current = await createWorld({
    ...world,
    provider,
    rights,
    ownSender: OWN,
  });
  const read = parseReactions({ reactions }, { accounts: rights, eventSource: EVENT_SOURCE });
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  const deps = (): IntakeDeps => ({
    ...current.newInvocation().deps,
    eventSource: EVENT_SOURCE,
    reactions: read.value,
  });
  return {
    ...current,
    /** Delivers an event like the rule of CommandRequested and TaskFollowRequested. */
    put: (event: unknown): Promise<void> => ingest(deps(), event),
    /** Delivers an event like the rule of a reaction. */
    putFor: (reaction: string, event: unknown): Promise<void> =>
      ingest(deps(), { reaction, event }),
  };
};
