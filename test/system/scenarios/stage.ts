import * as z from "zod";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import type { EventLog } from "./event-log.ts";

export const publishedSchema = z.object({
  id: z.string(),
  source: z.string(),
  account: z.string(),
  "detail-type": z.string(),
  detail: z.object({
    metadata: z.looseObject({
      id: z.string(),
      commandId: z.string().optional(),
      correlationId: z.string().optional(),
      sender: z.string().optional(),
    }),
    // Scenarios read into data of every shape.
    data: z.record(z.string(), z.any()),
  }),
});

/** An event of ours as a subscriber gets it. */
export type Published = z.output<typeof publishedSchema>;

export interface ForeignEvent {
  readonly source: string;
  readonly detailType: string;
  readonly detail: JsonObject;
}

/** A running Skyhook, wherever it runs. */
export interface Stage {
  /** The AWS account that it runs in. */
  readonly ownSender: string;
  readonly provider: { readonly baseUrl: string; readonly apiKey: string };
  /** Everything that was published, in the order of its arrival. */
  readonly events: EventLog;
  /** What came to the bus of `DEMO_TEAM`. */
  readonly teamEvents: EventLog;
  /** Puts a message on the command queue, as our own AWS account. */
  send(body: JsonObject, groupId: string, deduplicationId: string): Promise<void>;
  /** Puts an event on Skyhook's bus, as any AWS account. @returns the event's id */
  putFrom(awsAccount: string, event: ForeignEvent): Promise<string>;
  /** Writes the thresholds' config, as whoever looks after it does. */
  writeThresholds(text: string): Promise<void>;
  close(): Promise<void>;
}
