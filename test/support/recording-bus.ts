import * as z from "zod";
import { EVENT_DATA, metadataSchema } from "../../lib/events/catalogue.ts";
import type { BusEntry, PublishOutcome } from "../../lib/platform/ports/bus.ts";
import type { JsonObject, Ledger } from "../../lib/platform/ports/ledger.ts";
import { contractProblem } from "./contract-problem.mjs";

/** Maximum size of an event, below the 256 kB of EventBridge. */
const MAX_EVENT_BYTES = 200_000;

interface PublishedEvent {
  readonly detailType: string;
  readonly id: string;
  readonly metadata: z.output<typeof metadataSchema>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any data
  readonly data: any;
}

export interface RecordingBus {
  publish(entries: readonly BusEntry[]): Promise<readonly PublishOutcome[]>;
  /**
   * All accepted events in order; an event that was published twice is there twice.
   * @throws Error if an event is not valid by the catalogue, or reports a state that was not durable
   */
  published(): readonly PublishedEvent[];
  /** Problems of all published events. */
  broken(): readonly string[];
  /** As `published`, without the invalid events. */
  seen(): readonly PublishedEvent[];
  /** All accepted entries, valid or not, unchanged. */
  taken(): readonly BusEntry[];
  /** Entries fail for which this returns true. */
  refuse(isRefused: (entry: BusEntry) => boolean): void;
}

const detailSchema = z.strictObject({
  metadata: metadataSchema,
  data: z.record(z.string(), z.json()),
});

const stateOf = async (ledger: Ledger, key: string): Promise<JsonObject | undefined> => {
  const state = (await ledger.read(key))?.value.state;
  return state !== null && typeof state === "object" && !Array.isArray(state)
    ? (state as JsonObject)
    : undefined;
};

const DURABLE_STATUS: Record<string, string> = {
  CommandSucceeded: "succeeded",
  CommandFailed: "failed",
  CommandCancelled: "cancelled",
};

/** The recorded status of a task. The success of an only task may be in its command alone. */
const statusOfTask = (task: JsonObject | undefined, command: JsonObject | undefined) => {
  const isOnly = Array.isArray(command?.tasks) && command.tasks.length === 1;
  return isOnly && command?.status === "succeeded" ? "finished" : task?.status;
};

/** Checks that the ledger has the state that the event reports. @returns the problem, or undefined */
const liesAbout = async (
  ledger: Ledger,
  sender: string,
  event: PublishedEvent,
): Promise<string | undefined> => {
  const { detailType, metadata, data } = event;
  const asker = metadata.sender ?? sender;
  const command = await stateOf(ledger, `command#${asker}/${metadata.commandId}`);
  if (detailType === "CommandAccepted")
    return command ? undefined : "a command that is not in the ledger";
  if (detailType === "CommandResolved") {
    const item = await ledger.read(`command#${asker}/${metadata.commandId}`);
    return item?.value.resolution ? undefined : "a resolution that is not in the ledger";
  }
  const wanted = DURABLE_STATUS[detailType];
  if (wanted !== undefined) {
    return command?.status === wanted ? undefined : `a ${command?.status} command`;
  }
  if (detailType !== "TaskFinished" && detailType !== "TaskFailed") return undefined;
  const key = `task#${metadata.account}/${data.taskId}`;
  const followed = `${key}/${asker}/${metadata.commandId}`;
  const task = (await stateOf(ledger, followed)) ?? (await stateOf(ledger, key));
  const status = statusOfTask(task, command);
  const isTrue = (status === "finished") === (detailType === "TaskFinished");
  return status !== undefined && status !== "open" && isTrue ? undefined : `a ${status} task`;
};

/** The event as a subscriber gets it. */
const delivered = ({ detailType, detail, time }: BusEntry) => ({
  version: "0",
  id: "5d9e2b0c-7a51-4c2f-9b58-1f1d7f3a6a01",
  source: "skyhook",
  "detail-type": detailType,
  account: "123456789012",
  time: new Date(time).toISOString(),
  region: "eu-central-1",
  resources: [],
  detail,
});

/** Checks the event against the catalogue, and against its JSON Schema. @returns the problem, or undefined */
const breaksCatalogue = (entry: BusEntry): string | undefined => {
  const problem = contractProblem(delivered(entry));
  if (problem !== undefined) return `its JSON Schema refuses it: ${problem}`;
  const detail = detailSchema.safeParse(entry.detail);
  if (!detail.success) return z.prettifyError(detail.error);
  const schema = (EVENT_DATA as Record<string, z.ZodType>)[entry.detailType];
  if (!schema) return "not in the catalogue";
  const data = schema.safeParse(detail.data.data);
  if (!data.success) return z.prettifyError(data.error);
  if (detail.data.metadata.id !== entry.deduplicationId) return "two ids";
  if (Date.parse(detail.data.metadata.time) !== entry.time) return "two times";
  return Buffer.byteLength(JSON.stringify(entry)) > MAX_EVENT_BYTES
    ? "larger than 200 kB"
    : undefined;
};

/** A bus that keeps its events, and checks each against the catalogue and the ledger. */
export const createRecordingBus = (ledger: Ledger, sender: string): RecordingBus => {
  const taken: PublishedEvent[] = [];
  const entriesTaken: BusEntry[] = [];
  const texts = new Map<string, string>();
  const broken: string[] = [];
  let isRefused = (_entry: BusEntry): boolean => false;

  const take = async (entry: BusEntry): Promise<void> => {
    entriesTaken.push(entry);
    const problem = breaksCatalogue(entry);
    if (problem !== undefined) {
      broken.push(`${entry.detailType}: ${problem}`);
      return;
    }
    const { metadata, data } = detailSchema.parse(entry.detail);
    const event = { detailType: entry.detailType, id: metadata.id, metadata, data };
    const lie = await liesAbout(ledger, sender, event);
    if (lie !== undefined) broken.push(`${entry.detailType} reports ${lie}`);
    // Events with the same id report the same fact and must be equal.
    const text = JSON.stringify([entry.detailType, data]);
    if ((texts.get(event.id) ?? text) !== text) broken.push(`${event.id} has two contents`);
    texts.set(event.id, text);
    taken.push(event);
  };

  return {
    async publish(entries) {
      const outcomes: PublishOutcome[] = [];
      for (const entry of entries) {
        if (isRefused(entry)) {
          outcomes.push({ kind: "failed", code: "InternalFailure", message: "try again" });
        } else {
          await take(entry);
          outcomes.push({ kind: "published" });
        }
      }
      return outcomes;
    },
    published() {
      if (broken.length > 0) throw new Error(broken.join("\n"));
      return [...taken];
    },
    broken: () => [...broken],
    seen: () => [...taken],
    taken: () => [...entriesTaken],
    refuse(next) {
      isRefused = next;
    },
  };
};
