import type { AwsLimits } from "../../../lib/local/aws-limits.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { openStage } from "./stage.ts";
import { countOf, countTwice, endedAsItShould, quantileOf } from "./tally.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** A load of commands, each with one task and a lane of its own, and the stage that carries it. */
export interface Load {
  readonly perSecond: number;
  readonly seconds: number;
  readonly taskMs: number;
  readonly accounts: number;
  /** Rate limit of each account, requests/s. */
  readonly requestsPerSecond: number;
  readonly dueShards: number;
  readonly intakeMaximumConcurrency: number;
  readonly runCommandsMaximumConcurrency: number;
  /** Limits of AWS other than the documented ones. */
  readonly limits?: Partial<AwsLimits>;
}

/** 500 commands a second with the stage parameters of docs/internals/performance.md. */
export const LOAD: Load = {
  perSecond: 500,
  seconds: 60,
  taskMs: 30 * SECOND_MS,
  accounts: 10,
  requestsPerSecond: 100,
  dueShards: 8,
  intakeMaximumConcurrency: 20,
  runCommandsMaximumConcurrency: 50,
};

interface Latency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export interface Outcome {
  readonly sent: number;
  readonly accepted: number;
  readonly succeeded: number;
  /** Commands without an end. */
  readonly lost: number;
  /** Commands that failed or ended otherwise, and mutations that did not take effect exactly once. */
  readonly wrong: number;
  /** Commands with one fact under several event ids, or several ends. */
  readonly publishedTwice: number;
  readonly deadLetters: number;
  /** Messages of both queues that were received again. */
  readonly redeliveries: number;
  /** Throttled calls by limit. */
  readonly throttled: ReadonlyMap<string, number>;
  /** Invocations that lasted longer than their function may. */
  readonly overruns: number;
  /** Log lines from warnings on, by text. */
  readonly logged: ReadonlyMap<string, number>;
  /** From the request to the mutation's effect, ms. */
  readonly toMutation: Latency;
  /** From the task's end to the published end of the command, ms. */
  readonly toEvent: Latency;
  /** From the first request to the last end, s of virtual time. */
  readonly spanSeconds: number;
  readonly events: number;
}

const latencyOf = (values: readonly number[]): Latency => ({
  p50: quantileOf(values, 0.5),
  p90: quantileOf(values, 0.9),
  p99: quantileOf(values, 0.99),
});

/** Longest time after the last request. */
const LONGEST_MS = 30 * MINUTE_MS;
/** Longer than the visibility of a message, so that what is delivered again shows. */
const REST_MS = 4 * MINUTE_MS;

/** Runs the load until all commands have ended, and for four minutes more. */
export const runLoad = async (load: Load): Promise<Outcome> => {
  const clock = createVirtualClock();
  const count = load.perSecond * load.seconds;
  const stage = await openStage({ ...load, clock, commandsEach: Math.ceil(count / load.accounts) });
  const { tally, sides, throttled, logged } = stage;
  const startsAt = clock.now();
  const requests: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    requests.push(stage.send(index % load.accounts, Math.floor(index / load.accounts) + 1));
    const next = startsAt + Math.floor(((index + 1) * SECOND_MS) / load.perSecond);
    await clock.advance(next - clock.now());
  }
  await clock.advance(LONGEST_MS, () => tally.ended() >= count);
  const spanSeconds = (clock.now() - startsAt) / SECOND_MS;
  await clock.advance(REST_MS);
  await Promise.all(requests);

  const commands = [...tally.commands];
  const mutationOf = (commandId: string): number => {
    const [, account, number] = /^customer-(\d+)-(\d+)$/.exec(commandId) ?? [];
    return sides[Number(account) - 1]?.provider.changedAt(Number(number)) ?? Number.NaN;
  };
  const all = [...tally.commands.values()];
  const ended = commands.filter(([, { endedAt }]) => endedAt !== undefined);
  const mutations = sides.reduce((sum, side) => sum + side.mutations, 0);
  const outcome: Outcome = {
    sent: count,
    accepted: countOf(all, "CommandAccepted"),
    succeeded: countOf(all, "CommandSucceeded"),
    lost: count - ended.length,
    wrong:
      ended.filter(([, command]) => !endedAsItShould(command)).length + Math.abs(mutations - count),
    publishedTwice: countTwice(all),
    deadLetters: stage.deadLetters(),
    ...{ ...stage.trouble, throttled, logged },
    toMutation: latencyOf(ended.map(([id, { sentAt }]) => mutationOf(id) - sentAt)),
    toEvent: latencyOf(
      ended.map(([id, { endedAt = Number.NaN }]) => endedAt - mutationOf(id) - load.taskMs),
    ),
    ...{ spanSeconds, events: tally.published() },
  };
  const stopped = stage.stop();
  await clock.advance(MINUTE_MS);
  await stopped;
  return outcome;
};

/** What must not happen at any load that the stage's parameters allow. */
export const faultsOf = (outcome: Outcome): readonly string[] =>
  (["lost", "wrong", "publishedTwice", "deadLetters", "overruns"] as const)
    .filter((name) => outcome[name] !== 0)
    .map((name) => `${name}: ${outcome[name]}`);
