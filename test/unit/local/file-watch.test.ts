import { expect, test } from "vitest";
import { createSteadySource, watchFile } from "../../../lib/local/file-watch.ts";
import type { ConfigSource } from "../../../lib/platform/ports/config-source.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createTextSource } from "../../support/text-source.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const watch = (
  source: ConfigSource,
  onVersion?: (version: string | undefined) => Promise<void>,
) => {
  const clock = createVirtualClock();
  const log = createRecordingLog();
  const stopping = new AbortController();
  const reported: (string | undefined)[] = [];
  const ended = watchFile({
    source: createSteadySource(source, clock),
    clock,
    log,
    signal: stopping.signal,
    async onVersion(version) {
      reported.push(version);
      await onVersion?.(version);
    },
  });
  return { clock, log, reported, stop: () => stopping.abort(), ended };
};

const versionOf = async (source: ConfigSource) => (await source.read())?.version;

test("reports the current version once", async () => {
  const source = createTextSource("one");
  const { clock, reported } = watch(source);

  await clock.advance(60_000);

  expect(reported).toEqual([await versionOf(source)]);
});

test("reports each new version within a second", async () => {
  const source = createTextSource("one");
  const { clock, reported } = watch(source);
  await clock.advance(1_000);
  source.write("two");

  await clock.advance(1_000);

  expect(reported).toHaveLength(2);
  expect(reported[1]).toBe(await versionOf(source));
});

test("does not report a file that is being written or moved until it stays unchanged", async () => {
  const source = createTextSource("one");
  const { clock, reported } = watch(source);
  await clock.advance(1_000);

  source.write(undefined);
  await clock.advance(300);
  source.write("o");
  await clock.advance(300);
  source.write("one");
  await clock.advance(10_000);

  expect(reported).toHaveLength(1);
});

test("reports when the file disappears and when it is back", async () => {
  const source = createTextSource("one");
  const { clock, reported } = watch(source);
  await clock.advance(1_000);
  source.write(undefined);
  await clock.advance(1_000);
  source.write("one");

  await clock.advance(1_000);

  expect(reported).toEqual([await versionOf(source), undefined, await versionOf(source)]);
});

test("reports a version again after a while if its handler failed", async () => {
  const source = createTextSource("one");
  let failures = 1;
  const { clock, log, reported } = watch(source, async () => {
    failures -= 1;
    if (failures >= 0) throw new Error("the provider is away");
  });

  await clock.advance(30_000);

  expect(reported).toHaveLength(2);
  expect(log.lines).toEqual([
    {
      level: "warn",
      message: "config file not handled, retrying in 10 seconds",
      fields: { source: "test.yaml", errorMessage: "the provider is away" },
    },
  ]);
});

test("continues after the file was unreadable for a while", async () => {
  const readable = createTextSource("one");
  let isReadable = false;
  const source: ConfigSource = {
    name: "test.yaml",
    async read() {
      if (!isReadable) throw new Error("EACCES");
      return readable.read();
    },
  };
  const { clock, reported } = watch(source);
  await clock.advance(1_000);
  isReadable = true;

  await clock.advance(30_000);

  expect(reported).toHaveLength(1);
});

test("ends when the signal aborts", async () => {
  const { clock, stop, ended } = watch(createTextSource("one"));
  await clock.advance(1_000);
  stop();
  await clock.advance(1_000);

  await expect(ended).resolves.toBeUndefined();
});
