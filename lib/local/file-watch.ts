import type { Clock } from "../ports/clock.ts";
import type { ConfigSource } from "../ports/config-source.ts";
import type { Log } from "../ports/log.ts";

/** Short enough that an edit is followed at once for whoever watches. */
const LOOK_MS = 300;
/** As Lambda does with an event whose function failed, only sooner. */
const RETRY_MS = 10_000;

export interface FileWatchOptions {
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with the version that is there, undefined when there is none; again after a rejection. */
  readonly onVersion: (version: string | undefined) => Promise<void>;
}

/**
 * Tells of the version that is there, and of every other one that comes later. A version counts when
 * two looks in a row have seen it: editors write a file in several steps, or remove it in between.
 * Resolves when the signal aborts.
 */
export const watchFile = async (options: FileWatchOptions): Promise<void> => {
  const { source, clock, log, signal, onVersion } = options;
  let told: { readonly version: string | undefined } | undefined;
  let seen: { readonly version: string | undefined } | undefined;

  const look = async (): Promise<number> => {
    const version = (await source.read())?.version;
    const isStable = seen !== undefined && seen.version === version;
    seen = { version };
    if (!isStable || (told !== undefined && told.version === version)) return LOOK_MS;
    await onVersion(version);
    told = { version };
    return LOOK_MS;
  };

  while (!signal.aborted) {
    const pauseMs = await look().catch((error: unknown) => {
      log.warn("config not handled, it is tried again", {
        source: source.name,
        errorMessage: error instanceof Error ? error.message : String(error),
      });
      return RETRY_MS;
    });
    await clock.sleep(pauseMs, signal);
  }
};
