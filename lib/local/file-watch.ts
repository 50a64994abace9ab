import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { Log } from "../platform/ports/log.ts";

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ENOENT" || error.code === "ENOTDIR");

/** A config file on disk, which users edit during a run. */
export const createFileConfigSource = (path: string): ConfigSource => ({
  name: path,
  async read() {
    try {
      const text = await readFile(path, "utf8");
      return { text, version: createHash("sha256").update(text).digest("hex").slice(0, 16) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
});

/** Short enough that an edit seems to take effect immediately. */
const CHECK_MS = 300;
/** Pause before a retry; shorter than Lambda's for a failed asynchronous call. */
const RETRY_MS = 10_000;

/**
 * Returns a file only when two checks in a row see the same content. Editors write in several steps, or
 * remove the old file before the new one exists; a partial list must not count as the whole.
 */
export const createSteadySource = (source: ConfigSource, clock: Clock): ConfigSource => ({
  name: source.name,
  async read() {
    let seen = await source.read();
    for (;;) {
      await clock.sleep(CHECK_MS);
      const now = await source.read();
      if (now?.version === seen?.version) return now;
      seen = now;
    }
  },
});

export interface FileWatchOptions {
  /** A source made by `createSteadySource`. */
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with the current version, undefined without a file; called again after a rejection. */
  readonly onVersion: (version: string | undefined) => Promise<void>;
}

/** Reports the current version and every later one. Resolves when the signal aborts. */
export const watchFile = async (options: FileWatchOptions): Promise<void> => {
  const { source, clock, log, signal, onVersion } = options;
  let handled: { readonly version: string | undefined } | undefined;

  const check = async (): Promise<void> => {
    const version = (await source.read())?.version;
    if (signal.aborted || (handled && handled.version === version)) return;
    await onVersion(version);
    handled = { version };
  };

  while (!signal.aborted) {
    try {
      await check();
    } catch (error) {
      log.warn("config file not handled, retrying in 10 seconds", {
        source: source.name,
        errorMessage: error instanceof Error ? error.message : String(error),
      });
      await clock.sleep(RETRY_MS, signal);
    }
  }
};
