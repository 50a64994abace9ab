import type { S3ObjectCreatedNotificationEvent, ScheduledEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import written from "../../support/fixtures/s3-object-created-event.json" with { type: "json" };
import scheduled from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import { createTextSource } from "../../support/text-source.ts";
import { createFunctionWorld } from "./function-world.ts";

const WRITTEN = written as S3ObjectCreatedNotificationEvent;
const SCHEDULED = scheduled as ScheduledEvent;
const CONFIG = "thresholds: [{ name: reaching_used_space, bucket_name: b, bytes: 1 GiB }]\n";

const open = async (config: string) => {
  const world = await createFunctionWorld();
  const source = createTextSource(config);
  const { syncThresholds } = world.skyhook({ thresholds: source });
  return { world, source, handler: syncThresholds };
};

describe("sync-thresholds", () => {
  it("syncs the thresholds with the file when S3 notifies it", async () => {
    const { world, handler } = await open(CONFIG);

    await handler(WRITTEN, world.contextOf(300_000));

    const [synced] = world.bus.published();
    expect(synced?.detailType).toBe("ThresholdsSynced");
    expect(synced?.metadata).toMatchObject({ account: "local", causationId: WRITTEN.id });
    expect(synced?.data).toMatchObject({ cause: "object-created", counts: { created: 1 } });
    expect(world.bound).toHaveLength(1);
  });

  it("ignores a repeated event of S3", async () => {
    const { world, handler } = await open(CONFIG);
    await handler(WRITTEN, world.contextOf(300_000));

    await handler(WRITTEN, world.contextOf(300_000));

    expect(world.bus.published()).toHaveLength(1);
  });

  it("checks for drift at a tick, and reads the file again", async () => {
    const { world, source, handler } = await open(CONFIG);
    await handler(WRITTEN, world.contextOf(300_000));
    source.write(CONFIG.replace("1 GiB", "2 GiB"));

    await handler(SCHEDULED, world.contextOf(300_000));

    expect(world.bus.published().map(({ data }) => [data.cause, data.outcome])).toEqual([
      ["object-created", "complete"],
      ["schedule", "complete"],
    ]);
  });

  it("fails when changes are left, so that Lambda retries", async () => {
    const { world, handler } = await open(CONFIG);
    world.bus.refuse(() => true);

    // The poller publishes recorded events. A check without a record has to be repeated.
    await expect(handler(WRITTEN, world.contextOf(300_000))).resolves.toBeUndefined();
    await expect(handler(SCHEDULED, world.contextOf(300_000))).rejects.toThrow(
      "could not be published",
    );

    expect(world.log.lines.filter(({ level }) => level === "error")).toMatchObject([
      {
        message: "invocation failed",
        fields: { errorKind: "Error", correlationId: SCHEDULED.id },
      },
    ]);
  });
});
