import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { Log } from "../platform/ports/log.ts";

/** Short enough that an edit is followed at once for whoever watches. */
const LOOK_MS = 300;
/** As Lambda does with an event whose function failed, only sooner. */
const RETRY_MS = 10_000;

/**
 * A file that is read only when it stands still: editors write in several steps, or remove the old
 * file before the new one is there, and half a list would be taken for the whole. A read takes two
 * looks that see the same.
 */
export const createSteadySource = (source: ConfigSource, clock: Clock): ConfigSource => ({
  name: source.name,
  async read() {
    let seen = await source.read();
    for (;;) {
      await clock.sleep(LOOK_MS);
      const now = await source.read();
      if (now?.version === seen?.version) return now;
      seen = now;
    }
  },
});

export interface FileWatchOptions {
  /** A steady one. */
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with the version that is there, undefined when there is none; again if it rejects. */
  readonly onVersion: (version: string | undefined) => Promise<void>;
}

/** Tells of the version that is there, and of every other one later. Resolves when the signal aborts. */
export const watchFile = async (options: FileWatchOptions): Promise<void> => {
  const { source, clock, log, signal, onVersion } = options;
  let told: { readonly version: string | undefined } | undefined;

  const look = async (): Promise<void> => {
    const version = (await source.read())?.version;
    if (signal.aborted || (told && told.version === version)) return;
    await onVersion(version);
    told = { version };
  };

  while (!signal.aborted) {
    try {
      await look();
    } catch (error) {
      log.warn("config not handled, it is tried again", {
        source: source.name,
        errorMessage: error instanceof Error ? error.message : String(error),
      });
      await clock.sleep(RETRY_MS, signal);
    }
  }
};
