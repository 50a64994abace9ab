import { v5 as nameBasedUuid } from "uuid";
import type * as z from "zod";
import type { Problem } from "../contract/problem.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { DetailType, EVENT_DATA } from "./catalogue.ts";
import { DETAIL_VERSION } from "./version.ts";

/** Namespace of the event ids (RFC 9562, version 5). A change would give published facts new ids. */
const EVENT_NAMESPACE = "6f0c1f5e-3b0a-4c55-9a43-5d1b6f1c7a10";

/** The fields that a type names; `looseObject` adds all others. */
type Named<T> = {
  readonly [K in keyof T as string extends K ? never : K]: Given<Exclude<T[K], undefined>>;
};

/** A schema's input as a builder passes it: read-only, with only the named fields of a loose object. */
type Given<T> = [z.core.util.JSONType] extends [T]
  ? JsonValue
  : T extends readonly (infer Entry)[]
    ? readonly Given<Entry>[]
    : T extends object
      ? [keyof Named<T>] extends [never]
        ? { readonly [K in keyof T]: Given<T[K]> }
        : Named<T>
      : T;

/** The data without unknown fields on any level. Excess-property checks miss fields of a spread. */
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

/** Data of an event with exactly the fields of the catalogue. */
type CataloguedData<T extends DetailType, Data> = EventData<T> & Exactly<Data, EventData<T>>;
type EventData<T extends DetailType> = Given<z.input<(typeof EVENT_DATA)[T]>>;

/** A fact to publish, with the data of its event in the catalogue. */
export interface Fact<T extends DetailType, Data extends JsonObject> {
  readonly detailType: T;
  /** Identifies the fact. The same identity gives the same event id for every publication. */
  readonly identity: readonly string[];
  /** Group of the event, for a bus that keeps the order inside a group. */
  readonly subject: string;
  /** Epoch ms. */
  readonly time: number;
  readonly correlationId: string;
  /** Id of the event or message that led to this fact. */
  readonly causationId: string;
  readonly account?: string | undefined;
  /** AWS account that sent the request. */
  readonly sender?: string | undefined;
  readonly commandId?: string | undefined;
  readonly data: Data & CataloguedData<T, Data>;
}

/** ISO 8601 text of an instant (epoch ms), as in events. */
export const isoText = (at: number): string => new Date(at).toISOString();

/** Id of the event of a fact, without its data: `metadata.id`. */
export const eventIdOf = (detailType: DetailType, identity: readonly string[]): string =>
  nameBasedUuid(JSON.stringify([detailType, ...identity]), EVENT_NAMESPACE);

/** Makes the event of a fact. Pure: the same fact always gives the same event. */
export const eventOf = <T extends DetailType, Data extends JsonObject>(
  fact: Fact<T, Data>,
): BusEntry => {
  const id = eventIdOf(fact.detailType, fact.identity);
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

/** Limits that keep every event below 200 kB for any text of a sender or the provider; the bus allows 256 KiB. */
const MAX_LISTED = 100;
const MAX_LISTED_BYTES = 100_000;
const MAX_TEXT_CHARACTERS = 500;

/** The beginning of a text, with `…` if it is cut. Never splits a character. */
export const clipped = (text: string, maxCharacters = MAX_TEXT_CHARACTERS): string =>
  text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).replace(/\p{Surrogate}$/u, "")}…`
    : text;

/** The first entries of a list: at most 100, and at most 100 kB of JSON. */
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

/** The first problems of a list, each with clipped texts, within the limits of an event. */
export const listedProblems = (problems: readonly Problem[]) =>
  listed(problems.map(({ path, rule }) => ({ path: clipped(path), rule: clipped(rule) })));

/** As `listedProblems`, with line numbers of a config file. */
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
 * Publishes events. Resolves to the deduplication ids of those that the bus accepted. The owner of a failed
 * event has to publish it again.
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
 * Publishes an event that no record stores.
 * @throws Error when the bus did not accept it; the caller has to retry
 */
export const publishNow = async (
  deps: { readonly bus: EventBus; readonly log: Log },
  event: BusEntry,
): Promise<void> => {
  const published = await publish(deps, [event]);
  if (published.size === 0) throw new Error(`${event.detailType} could not be published`);
};
