import * as z from "zod";
import {
  listStorageEvents,
  createStorageEvent as operation,
  type storageEventListSchema,
  storageEventSchema,
} from "../../contract/storage-events.ts";
import { type CommandOperation, sendAgain } from "./operation.ts";

type WantedEvent = z.output<typeof storageEventSchema>;
type EventList = z.output<typeof storageEventListSchema>;

/** The same event with the same limit; an absent name and an empty one are the same. */
const isListed = (wanted: WantedEvent, list: EventList): boolean =>
  (list[wanted.name] ?? []).some((listed) => {
    if (!listed) return false;
    const { bytes, count } = z
      .looseObject({ bytes: z.unknown(), count: z.unknown() })
      .partial()
      .parse(listed);
    return (
      (listed.storage_name ?? "") === (wanted.storage_name ?? "") &&
      (listed.bucket_name ?? "") === (wanted.bucket_name ?? "") &&
      String(bytes ?? "") === String(wanted.bytes ?? "") &&
      String(count ?? "") === String(wanted.count ?? "")
    );
  });

/** An event's identity is unique, so a second create cannot make a second one: 409 says it exists. */
export const createStorageEvent: CommandOperation = {
  operation,
  beforeSendingAgain: sendAgain,
  refusedAgain: async ({ account, request, signal }, refusal) => {
    if (refusal.code !== "conflict") return { kind: "refused" };
    // The list shows the key's own client only; it says nothing about another one's event.
    if (!account.canList || request.query.client_id !== undefined) {
      return {
        kind: "unknown",
        rule: "the event exists, and whether this command made it cannot be seen",
      };
    }
    const wanted = z.parse(
      storageEventSchema,
      z.encode<z.ZodType>(storageEventSchema, request.body),
    );
    const list = await account.client.call(
      listStorageEvents,
      { params: {}, query: {}, body: undefined },
      signal,
    );
    return { kind: isListed(wanted, list) ? "done" : "refused" };
  },
};
