import { groupIdOf } from "../../../lib/engine/lane.ts";
import { readMessage } from "../../../lib/engine/queue-message.ts";
import { objectCreatedEvent, scheduledEvent } from "../../../lib/local/aws-events.ts";
import type { FunctionName } from "../../../lib/platform/deployment.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import type { AccountsConfig } from "../../../lib/provider/accounts-config.ts";
import type { Faults } from "../../support/faults.ts";
import { createEventSources } from "./event-sources.ts";
import { createInvocations } from "./invocations.ts";
import { type Beginning, OWN_SENDER, openParts } from "./parts.ts";

/** A lost poller lease, message or reply to a create takes minutes; more is a hang. */
const MAX_MS = 3 * 60 * 60 * 1_000;

const mostInASecond = (requestedAt: readonly number[]): number => {
  const counts = new Map<number, number>();
  for (const at of requestedAt) {
    const second = Math.floor(at / 1_000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
};

const rateLimitOf = ({ accounts: [account] }: AccountsConfig): number =>
  account?.requestsPerSecond ?? 0;

/** The deployed functions over ports in memory, with their triggers, on virtual time. */
export const openCloud = async (faults: Faults, beginning: Beginning) => {
  const parts = await openParts(faults, beginning);
  const { clock, queue, random, source, accounts } = parts;
  const invocations = createInvocations(parts);
  const sources = createEventSources(parts, invocations);
  let sequencer = 0;

  /** Lets all work continue that needs no time. */
  const settle = async (): Promise<void> => {
    await sources.startDue();
    await invocations.settle();
  };

  const moveOn = async (until: number): Promise<void> => {
    const next = Math.min(until, sources.nextAt(), clock.nextWakeAt());
    await clock.advance(Math.max(0, next - clock.now()));
    await settle();
  };

  const isQuiet = async (): Promise<boolean> =>
    !invocations.areRunning() &&
    !(await sources.isBusy()) &&
    (await parts.ledger.listDue(Number.MAX_SAFE_INTEGER, 1)).length === 0;

  const access = createAccess(accounts, OWN_SENDER);
  return {
    ...parts,
    givenUp: sources.givenUp,
    messagesLeft: sources.messagesLeft,
    /** Whether more requests than the account's rate limit arrived within one second. */
    isRateLimitBroken: (): boolean => mostInASecond(parts.requestedAt) > rateLimitOf(accounts),
    /** Puts a request of our own AWS account into the command queue. */
    async send(detail: object): Promise<void> {
      const body = JSON.stringify(detail);
      const about = { access, ownSender: OWN_SENDER, fingerprintKey: "" };
      const { lane } = readMessage(body, about);
      const groupId = lane === undefined ? "not-understood" : groupIdOf(lane);
      await queue.send({ body, groupId, deduplicationId: random.uuid() });
    },
    /** Puts an event into the queue `requests`, as its rule or a reaction's rule does. */
    async put(event: object, reaction?: string): Promise<void> {
      const body = JSON.stringify(reaction === undefined ? event : { reaction, event });
      const id = random.uuid();
      await parts.requestQueue.send({ body, groupId: id, deduplicationId: id });
    },
    /** Calls a scheduled job, as its schedule does. */
    tick(name: FunctionName): void {
      const isRetried = name !== "watch-ai-tasks";
      sources.call(name, scheduledEvent(name, clock.now(), random), { isRetried });
    },
    /** Writes the config, as an operator does who puts the object into the bucket. */
    writeConfig(text: string): void {
      sequencer += 1;
      source.write(text);
      const object = { key: "thresholds.yaml", version: "1", sequencer: `00${sequencer}` };
      sources.call("sync-thresholds", objectCreatedEvent(object, clock.now(), random));
    },
    /** Published events of one command, or of all, by detail-type; every publication counts. */
    publishedTypes: (commandId?: string): readonly string[] =>
      parts.bus
        .published()
        .filter(({ metadata }) => commandId === undefined || metadata.commandId === commandId)
        .map(({ detailType }) => detailType),
    /** Advances time while all functions work. */
    async pass(durationMs: number): Promise<void> {
      const endsAt = clock.now() + durationMs;
      await settle();
      while (clock.now() < endsAt) await moveOn(endsAt);
    },
    /** Advances time until no function has any work left. */
    async untilQuiet(): Promise<void> {
      const endsAt = clock.now() + MAX_MS;
      await settle();
      while (!(await isQuiet())) {
        if (clock.now() >= endsAt) throw new Error("the system does not come to rest");
        await moveOn(endsAt);
      }
    },
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
