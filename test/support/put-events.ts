import * as z from "zod";
import type { SentRequest, StubReply } from "./stub-aws.ts";

const requestSchema = z.object({
  Entries: z.array(
    z.object({
      EventBusName: z.string(),
      Source: z.string(),
      DetailType: z.string(),
      Detail: z.string(),
      Time: z.number(),
    }),
  ),
});

type PutEntry = z.infer<typeof requestSchema>["Entries"][number];

const refusal = (message: string): StubReply => ({
  status: 400,
  body: { __type: "ValidationException", message },
});

type SizedEntry = Pick<PutEntry, "Source" | "DetailType" | "Detail">;

const bytesOf = (entry: SizedEntry): number =>
  14 + Buffer.byteLength(entry.Source + entry.DetailType + entry.Detail);

/** Error message of PutEvents for the size of entries with a time; undefined if they are small enough. */
export const refusalOfSize = (entries: readonly SizedEntry[]): string | undefined =>
  entries.reduce((sum, entry) => sum + bytesOf(entry), 0) > 262_144
    ? "Total size of the entries in the request is over the limit."
    : undefined;

/** PutEvents with its two documented limits. @param accept receives the accepted entries */
export const answerPutEvents = (
  request: SentRequest,
  accept: (entry: PutEntry) => void,
): StubReply => {
  const { Entries } = requestSchema.parse(request.body);
  if (Entries.length < 1 || Entries.length > 10) {
    return refusal("Entries must have length between 1 and 10");
  }
  const message = refusalOfSize(Entries);
  if (message !== undefined) return refusal(message);
  Entries.forEach(accept);
  return {
    status: 200,
    body: { FailedEntryCount: 0, Entries: Entries.map((_, index) => ({ EventId: `id-${index}` })) },
  };
};
