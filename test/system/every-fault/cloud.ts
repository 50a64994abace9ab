import { groupIdOf } from "../../../lib/engine/lane.ts";
import { readMessage } from "../../../lib/engine/queue-message.ts";
import { parseReactions } from "../../../lib/intake/reactions-config.ts";
import { deployment, periodMsOf } from "../../../lib/platform/deployment.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { OWN } from "../../../lib/provider/accounts-schema.ts";
import { builtInState, type CollectionName, type State } from "../../../lib/service/state/state.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { watchKeys } from "../simulation/checks/keys.ts";
import { watchLanes } from "../simulation/checks/lanes.ts";
import { watchRateLimit } from "../simulation/checks/rate-limit.ts";
import { watchTaskEnds } from "../simulation/checks/task-ends.ts";
import { watchWrites } from "../simulation/checks/writes.ts";
import { openCloud as openSimulated } from "../simulation/cloud/cloud.ts";
import { type Chance, createChance } from "../simulation/engine/chance.ts";
import { BASE_URLS, LOCAL, OTHER_SENDER, OWN_SENDER } from "../simulation/plan/actors.ts";
import type { Plan, ProviderPlan } from "../simulation/plan/plan.ts";
import { watchOutboxes } from "./outboxes.ts";
import { type DecideInState, stateOf } from "./state.ts";

/** Another AWS account, with rights for two operations. */
export const TEAM = OTHER_SENDER;

/** The start of a scenario; absent fields have defaults. */
export interface Beginning {
  /**
   * Duration of a background task at the provider, ms; by default so short that the first check finds
   * its end.
   */
  readonly taskMs?: number;
  readonly state?: (builtIn: State) => State;
  /** Wraps the requests to the service. */
  readonly between?: ProviderPlan["between"];
  /** Further fields of the account in the accounts file. */
  readonly account?: Readonly<Record<string, unknown>>;
  readonly reactions?: readonly object[];
  readonly watchlist?: string;
}

const seeded = createChance(1);
/** Durations as the simulator draws them, and batches as large as AWS makes them. */
const chance: Chance = {
  ...seeded,
  between: (name, from, to) => (name.startsWith("batch ") ? to : seeded.between(name, from, to)),
};

/** Wake signals advance the first commands: the first tick of a run is lost. */
export const FIRST_TICK = "tick poll-tasks #1";

const planOf = (beginning: Beginning): Plan => {
  const accounts = parseAccounts({
    accounts: [
      {
        name: LOCAL,
        base_url: BASE_URLS[LOCAL],
        api_key: { parameter: "/provider/key" },
        senders: [OWN, { sender: TEAM, operations: ["resume-instance", "follow-task"] }],
        ...beginning.account,
      },
    ],
    aws_accounts: [{ id: TEAM }],
  });
  const reactions = parseReactions(
    { reactions: beginning.reactions ?? [] },
    { accounts, eventSource: "skyhook" },
  );
  if (reactions.kind === "invalid") throw new Error(JSON.stringify(reactions.problems));
  return {
    chance,
    weather: {},
    accounts,
    reactions: reactions.value,
    inputs: [],
    versions: [],
    provider: {
      state: (beginning.state ?? ((builtIn) => builtIn))(builtInState()),
      taskMs: beginning.taskMs ?? 1_500,
      skewMs: 0,
      between: beginning.between,
    },
    jobAccount: LOCAL,
    watchlist: beginning.watchlist ?? "",
    pricesMs: periodMsOf("price-snapshot"),
    maxReceiveCount: deployment.queues.commands.maxReceiveCount,
    isSkewed: false,
  };
};

const plans = new WeakMap<Beginning, Plan>();
/** One plan for all runs of a scenario. No run changes it. */
const sharedPlanOf = (beginning: Beginning): Plan => {
  const plan = plans.get(beginning) ?? planOf(beginning);
  plans.set(beginning, plan);
  return plan;
};

/** The simulator's cloud with the beginning of a scenario, and what a course can do with it. */
export const openCloud = async (beginning: Beginning, decide: DecideInState) => {
  const plan = sharedPlanOf(beginning);
  const outboxes = watchOutboxes();
  const simulated = await openSimulated({
    plan,
    decide: (place, kinds) =>
      place === FIRST_TICK ? "tick lost" : decide(place, kinds, () => stateOf(simulated)),
    watchedBus: outboxes.watched,
  });
  const { timeline, aws, jobs, bus, provider } = simulated;
  outboxes.watch(simulated.ledger);
  for (const watch of [watchLanes, watchRateLimit, watchKeys, watchWrites, watchTaskEnds])
    watch(simulated);
  const access = createAccess(plan.accounts, OWN_SENDER);
  const random = createSeededRandom();
  let configs = 0;
  simulated.start();

  return {
    ...simulated,
    initialState: plan.provider.state,
    toldTooEarly: outboxes.toldTooEarly,
    /** Puts a request of our own AWS account into the command queue. */
    async send(detail: object): Promise<void> {
      const body = JSON.stringify(detail);
      const { lane } = readMessage(body, { access, ownSender: OWN_SENDER, fingerprintKey: "" });
      const groupId = lane === undefined ? "not-understood" : groupIdOf(lane);
      await aws.commandQueue.send({ body, groupId, deduplicationId: random.uuid() });
    },
    /** Delivers an event to intake, as its rule or a reaction's rule does. */
    put(event: object, reaction?: string): void {
      void aws.put(reaction === undefined ? event : { reaction, event }, "e1");
    },
    /** Calls a scheduled job, as its schedule does. */
    tick(name: Parameters<typeof jobs.tick>[0]): void {
      void jobs.tick(name);
    },
    /** Writes the thresholds config, as an operator does who puts the object into the bucket. */
    writeConfig(text: string): void {
      configs += 1;
      jobs.write({ number: configs, afterMs: 0, text });
    },
    /** Published events of one command, or of all, by detail-type; every publication counts. */
    publishedTypes: (commandId?: string): readonly string[] =>
      bus
        .published()
        .filter(({ metadata }) => commandId === undefined || metadata.commandId === commandId)
        .map(({ detailType }) => detailType),
    /** Records of a collection at the provider. */
    // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any record
    async records(collection: CollectionName): Promise<readonly any[]> {
      return (await provider.inspect()).records.list(collection);
    },
    /** Changes the provider's state as another client. */
    async meddle(method: string, path: string, body: object): Promise<Response> {
      const reply = await provider.ask(method, path, body);
      if (!reply.ok) throw new Error(`${method} ${path} was refused`);
      return reply;
    },
    pass: timeline.advance,
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
