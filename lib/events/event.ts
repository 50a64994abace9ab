import { v5 as nameBasedUuid } from "uuid";
import * as z from "zod";
import type { BusEntry } from "../platform/ports/bus.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { DetailType } from "./catalogue.ts";

/** Namespace of our event ids (RFC 9562, version 5); changing it would give old facts new ids. */
const EVENT_NAMESPACE = "6f0c1f5e-3b0a-4c55-9a43-5d1b6f1c7a10";

/** Version of the detail's shape; a consumer can tell an incompatible change by it. */
const DETAIL_VERSION = 1;

/** What stands beside the data of every event. */
export const metadataSchema = z.looseObject({
  id: z.string(),
  version: z.int(),
  time: z.iso.datetime(),
  correlationId: z.string(),
  causationId: z.string(),
  account: z.string().optional(),
  sender: z.string().optional(),
  commandId: z.string().optional(),
});

interface Fact {
  readonly detailType: DetailType;
  /** Names the fact; the same words give the same event id, however often it is told. */
  readonly identity: readonly string[];
  /** Events about one subject are told in order. */
  readonly subject: string;
  /** Epoch ms. */
  readonly time: number;
  readonly correlationId: string;
  /** Id of the event or message that led to this fact. */
  readonly causationId: string;
  readonly account?: string | undefined;
  /** The AWS account that asked for what this tells of. */
  readonly sender?: string | undefined;
  readonly commandId?: string | undefined;
  readonly data: JsonObject;
}

/** Makes the event of a fact: pure, so a second making is the same event. */
export const eventOf = (fact: Fact): BusEntry => {
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
        time: new Date(fact.time).toISOString(),
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
