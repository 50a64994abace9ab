import { expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import type { Account } from "../../../lib/provider/accounts.ts";
import { rateLimits } from "../../../lib/provider/rate-limit.ts";
import { createRetryingClient } from "../../../lib/provider/retrying-client.ts";
import { json } from "../../support/provider.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import {
  createAccountWorld,
  FIRST_KEY,
  LIST,
  SECOND_KEY,
  THIRD_KEY,
  throttled,
} from "./account-world.ts";

/** An account in one process, with the number of permits that the ledger holds at each request. */
const openCounted = async () => {
  const granted = { count: 0 };
  const grantedAtSend: number[] = [];
  const world = await createAccountWorld({
    around: ({ name }, effect) => {
      if (name === "fetch") grantedAtSend.push(granted.count);
      return effect();
    },
  });
  const write: Ledger["write"] = async (item) => {
    const before = (await rateLimits.read(world.ledger, "acme"))?.value;
    const result = await world.ledger.write(item);
    const after = (await rateLimits.read(world.ledger, "acme"))?.value;
    const isSameWindow = before?.windowStartedAt === after?.windowStartedAt;
    granted.count += (after?.granted ?? 0) - (isSameWindow ? (before?.granted ?? 0) : 0);
    return result;
  };
  const account = world.open({ ledger: { ...world.ledger, write } });
  return { world, account, grantedAtSend };
};

/** One permit more for each request. */
const oneEach = (requests: number): readonly number[] =>
  Array.from({ length: requests }, (_, nth) => nth + 1);

test("each send of a request with a replaced key has a permit of its own", async () => {
  const { world, account, grantedAtSend } = await openCounted();
  const { slow, answer } = await world.readLate(account);
  world.secret.text = SECOND_KEY;
  world.accept(SECOND_KEY);
  await world.read(account);
  await world.clock.advance(8_000);
  world.secret.text = THIRD_KEY;
  world.accept(THIRD_KEY);

  answer();
  await world.drive(slow);

  expect(world.sent.map(({ key }) => key)).toEqual([
    ...[FIRST_KEY, FIRST_KEY, SECOND_KEY],
    ...[SECOND_KEY, THIRD_KEY],
  ]);
  expect(grantedAtSend).toEqual(oneEach(5));
});

test("each half-open probe has a permit", async () => {
  const { world, account, grantedAtSend } = await openCounted();
  world.accept();

  for (let probe = 0; probe < 4; probe += 1) {
    await world.read(account);
    await world.clock.advance(30_000);
  }

  expect(grantedAtSend).toEqual(oneEach(4));
});

test("each attempt of a job's call has a permit", async () => {
  const { world, account, grantedAtSend } = await openCounted();
  const job = (client: Account["client"]) =>
    createRetryingClient(client, {
      clock: world.clock,
      random: createSeededRandom(1),
      endsAt: world.clock.now() + 60_000,
      signal: new AbortController().signal,
    });
  for (const answer of [json(503, {}), throttled(2), json(408, {})]) world.answerNext(() => answer);

  await world.drive(job(account.client).call(listStorageEvents, LIST));

  expect(world.sent).toHaveLength(4);
  expect(grantedAtSend).toEqual(oneEach(4));
});
