import pc from "picocolors";
import * as z from "zod";
import type { BusEvent } from "../local/local-bus.ts";
import { visibleText } from "./visible-text.ts";

const COLUMNS = 36;

const line = (event: BusEvent, way: string, text: string): string =>
  [pc.dim(event.time.slice(11, 19).padEnd(12)), way.padEnd(COLUMNS), visibleText(text)].join("  ");

/** An event that somebody else has put on the bus. */
export const incomingLine = (event: BusEvent): string =>
  line(event, `from ${event.account}`, `${event["detail-type"]} (${event.source})`);

const metadataSchema = z.object({ metadata: z.object({ commandId: z.string().optional() }) });

/** An event of ours that has gone to another AWS account's bus. */
export const forwardedLine = (awsAccount: string, event: BusEvent): string => {
  const { commandId = "" } = metadataSchema.safeParse(event.detail).data?.metadata ?? {};
  return line(event, `to the bus of ${awsAccount}`, `${event["detail-type"]} ${commandId}`);
};
