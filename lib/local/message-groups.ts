import { createHeap, type Heap } from "./heap.ts";

/** What the order of delivery needs of a message. */
interface Ordered {
  /** Digits that grow with each sent message. */
  readonly sequence: string;
  readonly groupId: string;
}

/** A message in the queue. */
export interface Place<M extends Ordered> {
  /** Replaced when its receives are counted. */
  message: M;
  /** The receive that holds it; undefined unless it is in flight. */
  hold: Hold<M> | undefined;
  /** Handle of its last receive, for the queue. */
  receiptHandle: string;
}

/** The messages of one receive. While one of a group is held, no other message of the group is available. */
interface Hold<M extends Ordered> {
  readonly visibleAt: number;
  readonly places: Place<M>[];
}

interface Group<M extends Ordered> {
  /** Messages that are not in flight, the oldest first. */
  readonly waiting: Heap<Place<M>>;
  hold: Hold<M> | undefined;
  inFlight: number;
}

/** An available group, by its oldest message at the time of the entry. */
interface Candidate<M extends Ordered> {
  readonly group: Group<M>;
  readonly sequence: string;
}

/** The messages of a FIFO queue in their order of delivery. Knows neither storage nor the clock. */
export interface MessageGroups<M extends Ordered> {
  /** Adds a message behind all others. */
  add(message: M): void;
  /** Makes messages available again after their visibility timeout. Returns them. */
  release(now: number): readonly Place<M>[];
  /** Takes the oldest messages of available groups, as long as `wants` is true of the next one. */
  take(visibleAt: number, wants: (message: M) => boolean): Hold<M>;
  /** Makes the messages of a hold available again. Returns them. */
  giveBack(hold: Hold<M>): readonly Place<M>[];
  /** Removes a message in flight for good. */
  remove(place: Place<M>): void;
  /** When a message is available after a release, epoch ms; undefined if none is in flight or waiting. */
  nextAt(now: number): number | undefined;
  /** Number of messages, in flight or waiting. */
  size(): number;
  /** Reports whether a message fits. Takes time in proportion to all messages. */
  some(fits: (message: M) => boolean): boolean;
}

const isOlder = <M extends Ordered>(a: Place<M>, b: Place<M>): boolean =>
  a.message.sequence < b.message.sequence;

/**
 * Orders messages as an SQS FIFO queue hands them out. Each operation except `some` takes time in proportion to
 * the messages that it returns, times the logarithm of those that wait.
 * @param lookAhead number of messages, the oldest ones, in flight or not, among which the queue looks for
 * available groups. Later messages are not seen.
 */
export const createMessageGroups = <M extends Ordered>(lookAhead: number): MessageGroups<M> => {
  const groups = new Map<string, Group<M>>();
  const places = new Set<Place<M>>();
  const holds = createHeap<Hold<M>>((a, b) => a.visibleAt < b.visibleAt);
  /** Has an entry for each available group, and stale ones. */
  const candidates = createHeap<Candidate<M>>((a, b) => a.sequence < b.sequence);
  /** Messages that the look-ahead does not reach. */
  const behind = createHeap<Place<M>>(isOlder);

  const groupOf = (groupId: string): Group<M> => {
    const existing = groups.get(groupId);
    if (existing) return existing;
    const group: Group<M> = { waiting: createHeap(isOlder), hold: undefined, inFlight: 0 };
    groups.set(groupId, group);
    return group;
  };

  const offer = (group: Group<M>): void => {
    const oldest = group.waiting.peek();
    if (oldest) candidates.push({ group, sequence: oldest.message.sequence });
  };

  const admit = (place: Place<M>): void => {
    const group = groupOf(place.message.groupId);
    const isFirst = group.waiting.size === 0;
    group.waiting.push(place);
    if (isFirst && group.hold === undefined) offer(group);
  };

  const open = (groupId: string, group: Group<M>): void => {
    group.hold = undefined;
    if (group.waiting.size === 0) groups.delete(groupId);
    else offer(group);
  };

  const leaveFlight = (place: Place<M>): Group<M> => {
    const group = groupOf(place.message.groupId);
    place.hold = undefined;
    group.inFlight -= 1;
    return group;
  };

  const giveBack = (hold: Hold<M>): readonly Place<M>[] => {
    const held = hold.places.filter((place) => place.hold === hold);
    for (const place of held) {
      const group = leaveFlight(place);
      group.waiting.push(place);
      if (group.inFlight === 0) open(place.message.groupId, group);
    }
    return held;
  };

  /** The next available group that no other receive than this one holds. */
  const nextGroup = (hold?: Hold<M>): Group<M> | undefined => {
    for (let top = candidates.peek(); top; top = candidates.peek()) {
      const { group, sequence } = top;
      const isFree = group.hold === undefined || group.hold === hold;
      if (isFree && group.waiting.peek()?.message.sequence === sequence) return group;
      candidates.pop();
    }
    return undefined;
  };

  return {
    add(message) {
      const place: Place<M> = { message, hold: undefined, receiptHandle: "" };
      const isReached = places.size - behind.size < lookAhead;
      places.add(place);
      if (isReached) admit(place);
      else behind.push(place);
    },
    release(now) {
      const released: Place<M>[] = [];
      for (let hold = holds.peek(); hold && hold.visibleAt <= now; hold = holds.peek()) {
        holds.pop();
        released.push(...giveBack(hold));
      }
      return released;
    },
    take(visibleAt, wants) {
      const hold: Hold<M> = { visibleAt, places: [] };
      for (let group = nextGroup(hold); group; group = nextGroup(hold)) {
        const oldest = group.waiting.peek();
        if (!oldest || !wants(oldest.message)) break;
        group.waiting.pop();
        candidates.pop();
        group.hold = hold;
        group.inFlight += 1;
        oldest.hold = hold;
        hold.places.push(oldest);
        offer(group);
      }
      if (hold.places.length > 0) holds.push(hold);
      return hold;
    },
    giveBack,
    remove(place) {
      const group = leaveFlight(place);
      if (group.inFlight === 0) open(place.message.groupId, group);
      places.delete(place);
      const next = behind.pop();
      if (next) admit(next);
    },
    nextAt(now) {
      if (nextGroup()) return now;
      for (let hold = holds.peek(); hold; hold = holds.peek()) {
        if (hold.places.some((place) => place.hold === hold)) return hold.visibleAt;
        holds.pop();
      }
      return undefined;
    },
    size: () => places.size,
    some: (fits) => [...places].some(({ message }) => fits(message)),
  };
};
