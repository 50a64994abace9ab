import type { EventBus } from "../../../../lib/platform/ports/bus.ts";
import type { ConfigSource } from "../../../../lib/platform/ports/config-source.ts";
import type { Ledger } from "../../../../lib/platform/ports/ledger.ts";
import type { Log } from "../../../../lib/platform/ports/log.ts";
import type { Fetch } from "../../../support/provider.ts";

/**
 * A deliberate bug: the wrappers that it puts between the system and its ports. Everything else of a
 * run stays as it is.
 */
export interface Tampering {
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly bus?: (bus: EventBus) => EventBus;
  readonly fetch?: (fetch: Fetch) => Fetch;
  readonly source?: (source: ConfigSource) => ConfigSource;
  readonly log?: (log: Log) => Log;
  readonly leaseMs?: number;
  readonly ambiguityWindowMs?: number;
}
