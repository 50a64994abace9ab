import { v5 as nameBasedUuid } from "uuid";
import type * as z from "zod";
import type { Problem } from "../contract/problem.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { DetailType, EVENT_DATA } from "./catalogue.ts";

/** Namespace of our event ids (RFC 9562, version 5); changing it would give old facts new ids. */
const EVENT_NAMESPACE = "6f0c1f5e-3b0a-4c55-9a43-5d1b6f1c7a10";

/** Version of the detail's shape; a consumer can tell an incompatible change by it. */
const DETAIL_VERSION = 1;

/** The fields that a type names; `looseObject` adds all others. */
type Named<T> = {
  readonly [K in keyof T as string extends K ? never : K]: Given<Exclude<T[K], undefined>>;
};

/** A schema's input as a builder gives it: read-only, and of a loose object the named fields only. */
type Given<T> = [z.core.util.JSONType] extends [T]
  ? JsonValue
  : T extends readonly (infer Entry)[]
    ? readonly Given<Entry>[]
    : T extends object
      ? [keyof Named<T>] extends [never]
        ? { readonly [K in keyof T]: Given<T[K]> }
        : Named<T>
      : T;

/** The data where no level has a field that `Known` does not name: a spread may bring one in. */
type Exactly<Data, Known> = [JsonValue] extends [Known]
  ? Data
  : Data extends readonly (infer Entry)[]
    ? readonly Exactly<Entry, Extract<Known, readonly unknown[]>[number]>[]
    : Data extends object
      ? { readonly [K in keyof Data]: ExactField<Data, Extract<Known, object>, K> }
      : Data;
type ExactField<Data, Known, K extends keyof Data> = K extends keyof Known
  ? Exactly<Data[K], Known[K]>
  : never;

/** Data of an event as the catalogue has it: no field more, no field less. */
type CataloguedData<T extends DetailType, Data> = EventData<T> & Exactly<Data, EventData<T>>;
type EventData<T extends DetailType> = Given<z.input<(typeof EVENT_DATA)[T]>>;

/** What has happened, with the data that the catalogue knows for it. */
export interface Fact<T extends DetailType, Data extends JsonObject> {
  readonly detailType: T;
  /** Names the fact; the same words give the same event id, however often it is published. */
  readonly identity: readonly string[];
  /** Events about one subject are published in order. */
  readonly subject: string;
  /** Epoch ms. */
  readonly time: number;
  readonly correlationId: string;
  /** Id of the event or message that led to this fact. */
  readonly causationId: string;
  readonly account?: string | undefined;
  /** The AWS account that asked for what this reports. */
  readonly sender?: string | undefined;
  readonly commandId?: string | undefined;
  readonly data: Data & CataloguedData<T, Data>;
}

/** An instant as events show it. */
export const isoText = (at: number): string => new Date(at).toISOString();

/** Makes the event of a fact: pure, so a second making is the same event. */
export const eventOf = <T extends DetailType, Data extends JsonObject>(
  fact: Fact<T, Data>,
): BusEntry => {
  const id = nameBasedUuid(JSON.stringify([fact.detailType, ...fact.identity]), EVENT_NAMESPACE);
  return {
    detailType: fact.detailType,
    time: fact.time,
    groupId: fact.subject,
    deduplicationId: id,
    detail: {
      metadata: {
        id,
        version: DETAIL_VERSION,
        time: isoText(fact.time),
        correlationId: fact.correlationId,
        causationId: fact.causationId,
        ...(fact.account !== undefined && { account: fact.account }),
        ...(fact.sender !== undefined && { sender: fact.sender }),
        ...(fact.commandId !== undefined && { commandId: fact.commandId }),
      },
      data: fact.data,
    },
  };
};

/** Keep every event far below the bus's limit, whatever a sender or the provider writes. */
const MAX_LISTED = 100;
const MAX_LISTED_BYTES = 100_000;
const MAX_TEXT_CHARACTERS = 500;

/** As much of a text as belongs into an event or a record; never half a character. */
export const clipped = (text: string, maxCharacters = MAX_TEXT_CHARACTERS): string =>
  text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).replace(/\p{Surrogate}$/u, "")}…`
    : text;

/** The first entries, as many as an event has room for: at most 100 and about 100 kB. */
export const listed = <T>(entries: readonly T[]): T[] => {
  const room: T[] = [];
  let bytes = 0;
  for (const entry of entries.slice(0, MAX_LISTED)) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > MAX_LISTED_BYTES) break;
    room.push(entry);
  }
  return room;
};

/** The first problems, as many and as much of each as an event has room for. */
export const listedProblems = (problems: readonly Problem[]) =>
  listed(problems.map(({ path, rule }) => ({ path: clipped(path), rule: clipped(rule) })));

/** As `listedProblems`, with the lines of a config file. */
export const listedConfigProblems = (
  problems: readonly (Problem & { readonly line?: number | undefined })[],
) =>
  listed(
    problems.map(({ path, rule, line }) => ({
      path: clipped(path),
      rule: clipped(rule),
      ...(line !== undefined && { line }),
    })),
  );

/**
 * Publishes events and answers the deduplication ids of those that the bus has taken.
 * What failed stays with its owner, who publishes the same event again.
 */
export const publish = async (
  { bus, log }: { readonly bus: EventBus; readonly log: Log },
  events: readonly BusEntry[],
): Promise<ReadonlySet<string>> => {
  if (events.length === 0) return new Set();
  const outcomes = await bus.publish(events);
  const published = new Set<string>();
  for (const [index, event] of events.entries()) {
    const outcome = outcomes[index];
    if (outcome?.kind === "published") published.add(event.deduplicationId);
    else {
      log.warn("event not published", {
        detailType: event.detailType,
        eventId: event.deduplicationId,
        errorCode: outcome?.code ?? "no-outcome",
      });
    }
  }
  return published;
};

/**
 * Publishes an event that no record holds.
 * @throws Error when the bus has not taken it: the caller has to run again
 */
export const publishNow = async (
  deps: { readonly bus: EventBus; readonly log: Log },
  event: BusEntry,
): Promise<void> => {
  const published = await publish(deps, [event]);
  if (published.size === 0) throw new Error(`${event.detailType} could not be published`);
};
