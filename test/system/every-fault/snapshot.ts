import { type Command, commands, isEnded, isEndedByTasks } from "../../../lib/engine/command.ts";
import { lanes } from "../../../lib/engine/lane.ts";
import type { LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import { COLLECTIONS, keyOf } from "../../../lib/service/state/state.ts";
import type { Cloud } from "./cloud.ts";
import { blanked, createIdNames, idsIn } from "./normal-form.ts";

/** All facts of an end: a path, and its value as JSON text. */
export type Snapshot = ReadonlyMap<string, string>;

type Facts = Map<string, string>;
type IdNames = ReturnType<typeof createIdNames>;
type Json = null | string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** Longer than the longest background task at the provider, and than any lease. */
const AFTERWARDS_MS = 2 * 60 * 60_000;
/** Metrics that count ends. How often a function checked is no part of an end. */
const COUNTED_ENDS = /^(?:CommandEnded|UnknownOutcome|TaskPastDeadline)/;
const ENDS = /^Command(?:Succeeded|Failed|Cancelled|Rejected)$/;

const addFacts = (facts: Facts, path: string, value: Json): void => {
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) facts.set(path, JSON.stringify(value));
    for (const [field, part] of entries) addFacts(facts, `${path} > ${field}`, part);
  } else facts.set(path, JSON.stringify(value));
};

const add = (facts: Facts, path: string, text: string): void =>
  addFacts(facts, path, JSON.parse(text));

const count = (facts: Facts, path: string, by = 1): void =>
  void facts.set(path, String(Number(facts.get(path) ?? 0) + by));

/** Sorts in an order that is equal in every run, although unnamed ids differ. */
const inOrder = <T>(things: readonly T[], { namedIfKnown }: IdNames): readonly T[] =>
  things
    .map((thing) => ({ thing, text: namedIfKnown(blanked(thing)) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ thing }) => thing);

/** A lease names its runner; at an end it may only be over. */
const addLeases = (facts: Facts, { ledger, timeline }: Cloud): void => {
  for (const { key, value } of ledger.items.values()) {
    if (!key.startsWith("lease#")) continue;
    const isHeld = Number(value.until) > timeline.now() + AFTERWARDS_MS;
    if (isHeld) facts.set(`ledger > ${key} > is held`, "true");
  }
};

/**
 * Messages may quote the id of a task that the command never learns, such as the one that locks its
 * resource. A name for that id would shift the names of all later ids.
 */
const withAnonymousMessages = (value: object, { anonymous }: IdNames): unknown =>
  JSON.parse(
    JSON.stringify(value, (field, part) =>
      field === "message" && typeof part === "string" ? anonymous(part) : part,
    ),
  );

/** A command as it counts at an end. If its tasks ended it, their items show what is left to publish. */
const factsOfCommand = (command: Command): object =>
  isEnded(command) && isEndedByTasks(command.state)
    ? { ...command, outbox: [], state: { ...command.state, settled: true } }
    : command;

/** The value of an item. A lane is equally free with a last holder that has ended, and without one. */
const factsOf = (item: LedgerItem, { ledger }: Cloud): object => {
  if (item.key.startsWith(`${commands.kind}#`)) return factsOfCommand(commands.fromItem(item));
  if (!item.key.startsWith(`${lanes.kind}#`)) return item.value;
  const { holder = "", ...lane } = lanes.fromItem(item);
  const last = ledger.items.get(commands.itemKey(holder));
  return last && isEnded(commands.fromItem(last)) ? lane : item.value;
};

const addLedger = (facts: Facts, cloud: Cloud, ids: IdNames): void => {
  const stored = [...cloud.ledger.items.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const item of inOrder(stored, ids)) {
    const { key, dueAt, expiresAt } = item;
    if (key.startsWith("lease#")) continue;
    const kept = { ...factsOf(item, cloud), ...(expiresAt === undefined ? {} : { expiresAt }) };
    const path = `ledger > ${ids.named(key)}`;
    add(facts, path, ids.named(blanked(withAnonymousMessages(kept, ids))));
    if (dueAt !== undefined) facts.set(`${path} > due`, "true");
  }
};

/** Each published fact once, however often it was published. */
const addEvents = (facts: Facts, { bus }: Cloud, ids: IdNames): void => {
  const events = [...new Map(bus.published().map((event) => [event.id, event])).values()];
  const published = events.map(({ detailType, metadata: { id: _, ...metadata }, data }) => ({
    detailType,
    metadata,
    data,
  }));
  for (const { detailType, metadata, data } of inOrder(published, ids)) {
    const about = metadata.commandId ?? data.name ?? data.taskId ?? "";
    const kind = `events > ${ids.named(`${detailType} ${about}`.trim())}`;
    count(facts, kind);
    add(facts, `${kind} #${facts.get(kind)}`, ids.named(blanked({ metadata, data })));
  }
};

/** Order of each command's events, and of the ends of commands in each lane. */
const addOrders = (facts: Facts, { bus }: Cloud, { named }: IdNames): void => {
  const typesOf = new Map<string, string[]>();
  const ended = new Map<string, { readonly at: string; readonly command: string }[]>();
  const seen = new Set<string>();
  for (const { id, detailType, metadata, data } of bus.published()) {
    const command = metadata.commandId;
    if (command === undefined || seen.has(id)) continue;
    seen.add(id);
    typesOf.set(command, [...(typesOf.get(command) ?? []), detailType]);
    if (!ENDS.test(detailType) || data.lane === undefined) continue;
    ended.set(data.lane, [...(ended.get(data.lane) ?? []), { at: metadata.time, command }]);
  }
  for (const [command, types] of typesOf) facts.set(`order > of ${command}`, types.join(", "));
  for (const [lane, ends] of ended) {
    const order = ends.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ command }) => command);
    facts.set(`order > in ${named(lane)}`, order.join(", "));
  }
};

/**
 * Initial records are compared field by field under their keys, if they have changed; of new records the number of
 * equal ones.
 */
const addProvider = async (facts: Facts, cloud: Cloud, ids: IdNames): Promise<void> => {
  for (const collection of COLLECTIONS) {
    const before = cloud.initialState[collection];
    const texts = new Map(
      before.map((record) => [keyOf(collection, record), JSON.stringify(record)]),
    );
    for (const record of await cloud.records(collection)) {
      const key = keyOf(collection, record);
      const path = `provider > ${collection}`;
      const text = texts.get(key);
      if (text === JSON.stringify(record)) facts.set(`${path} > ${key}`, "as at the beginning");
      else if (text !== undefined) {
        add(facts, `${path} > ${key}`, ids.namedIfKnown(blanked(record)));
      } else count(facts, `${path} > new: ${ids.anonymous(blanked(record))}`);
    }
  }
};

const addRest = (facts: Facts, cloud: Cloud): void => {
  for (const name of cloud.metrics.counted) {
    if (COUNTED_ENDS.test(name)) count(facts, `counted > ${name}`);
  }
  for (const { name } of cloud.metrics.measured) {
    if (name === "CommandDuration") count(facts, `counted > ${name}`);
  }
  facts.set("published before it was durable", JSON.stringify(cloud.toldTooEarly));
  facts.set("broken rules", JSON.stringify(cloud.chronicle.violations));
  facts.set("errors of the service", JSON.stringify(cloud.provider.faults));
};

/** All facts of a system at rest. */
export const takeSnapshot = async (cloud: Cloud): Promise<Snapshot> => {
  // The provider finishes its tasks.
  cloud.provider.pass(AFTERWARDS_MS);
  const facts: Facts = new Map();
  const ids = createIdNames(idsIn(JSON.stringify(cloud.initialState)));
  addLedger(facts, cloud, ids);
  addLeases(facts, cloud);
  addEvents(facts, cloud, ids);
  addOrders(facts, cloud, ids);
  await addProvider(facts, cloud, ids);
  addRest(facts, cloud);
  return facts;
};
