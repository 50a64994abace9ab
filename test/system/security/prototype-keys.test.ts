import { describe, expect, test } from "vitest";
import { parseWireJson } from "../../../lib/contract/json.ts";
import { readWatchlist } from "../../../lib/jobs/prices/watchlist.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";
import { requestOf, shared, updatePolicy } from "../../support/requests.ts";
import { createIntakeWorld, eventOf, OWN, updateReaction } from "../../unit/intake/intake-world.ts";
import { errorOf, openClient } from "../../unit/provider/open-client.ts";
import { CONTAINER, startService } from "../../unit/service/harness.ts";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

/** Whether objects have properties that no code gave them. */
const isPolluted = (): boolean => {
  const fresh: Record<string, unknown> = {};
  return ["polluted", "timeout", "admin"].some((name) => name in fresh);
};

const POLLUTION = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

describe.each(NAMES)("the name %s", (name) => {
  test("names no missing resource of the service", async () => {
    const { send, faults } = await startService();
    const paths = ["caas", "lifecycle_policy", "instances", "routers", "lbpools", "networks"];

    for (const path of paths) {
      const { status } = await send("GET", `/cloud/v1/${path}/1234567/76/${name}`);
      expect([400, 404]).toContain(status);
    }
    expect((await send("GET", `/v1/tasks/${name}`)).status).toBe(404);
    expect((await send("GET", `/cloud/v1/caas/1234567/76/containers/${name}`)).status).toBe(404);
    expect(faults).toEqual([]);
  });

  test("is refused or stored like any other name in bodies and queries of the service", async () => {
    const { send, faults } = await startService();
    const answers = [
      await send("PATCH", CONTAINER, { text: `{"envs":{"${name}":"v"}}` }),
      await send("PATCH", CONTAINER, { text: `{"${name}":{"polluted":1}}` }),
      await send("GET", `/cloud/v1/tasks?${name}=1`),
      await send("GET", `/cloud/v1/tasks?state=${name}`),
    ];

    expect(answers.slice(1).map(({ status }) => status)).toEqual([400, 400, 400]);
    expect([200, 400]).toContain(answers[0]?.status);
    expect(faults).toEqual([]);
    expect(isPolluted()).toBe(false);
  });

  test("is no account, no operation and no field of a request", async () => {
    const world = await createIntakeWorld({ rights: shared(OWN) });
    const { data } = updatePolicy("c1");
    const details = [
      requestOf("c1", { ...data, account: name }),
      requestOf("c2", { ...data, operation: name }),
      JSON.parse(JSON.stringify(updatePolicy("c3")).replace('"status"', `"${name}"`)),
      JSON.parse(JSON.stringify(updatePolicy("c4")).replace('"params"', `"${name}":{},"params"`)),
    ];

    for (const [index, detail] of details.entries()) {
      await world.put(eventOf(OWN, "CommandRequested", detail, { id: `event-${index}` }));
    }

    expect(world.publishedTypes()).toEqual(Array(4).fill("CommandRejected"));
  });

  test("is the id of a command like any other", async () => {
    const world = await createIntakeWorld({ rights: shared(OWN) });

    await world.put(eventOf(OWN, "CommandRequested", updatePolicy(name)));
    await world.untilQuiet();

    expect(world.publishedTypes(name)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("is read from an event only if the event has it", async () => {
    const reaction = updateReaction({ name: `$.detail['${name}']` });
    const world = await createIntakeWorld({ rights: shared(OWN), reactions: [reaction] });

    await world.putFor("react", eventOf(OWN, "InvoicePaid", {}, { id: "without" }));
    const detail = JSON.parse(`{"${name}":"from the event"}`);
    await world.putFor("react", eventOf(OWN, "InvoicePaid", detail, { id: "with" }));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual([
      "CommandRejected",
      "CommandAccepted",
      "CommandSucceeded",
    ]);
    expect(world.bus.published()[0]?.data.problems).toMatchObject([{ rule: "not in the event" }]);
  });

  test("is an invalid field in a refusal like any other", async () => {
    const text = `{"message":"no","invalid_fields":{"${name}":["wrong"]}}`;
    const { calls } = openClient({ fetch: async () => new Response(text, { status: 400 }) });

    const { problems } = await errorOf(calls["update-container"]());

    expect(problems.filter(({ path }) => path !== name)).toEqual([]);
    expect(isPolluted()).toBe(false);
  });

  test("is a mistake or a name in a config, never a setting", () => {
    const accounts = readAccountsFile(
      `accounts: [{ name: a, senders: [own], ${name}: { requests_per_second: 1 } }]`,
    );
    const deadlines = readAccountsFile(
      `accounts: [{ name: a, senders: [own], deadlines: { ${name}: 1m } }]`,
    );
    const watchlist = readWatchlist(
      `items: [{ name: ${name}, ddos: { region_id: 76 } }, { name: b, ${name}: { region_id: 76 } }]`,
    );

    expect([accounts.kind, deadlines.kind, watchlist.kind]).toEqual(Array(3).fill("invalid"));
    expect(isPolluted()).toBe(false);
  });
});

test("no JSON of the interface changes the prototype of objects", () => {
  parseWireJson(POLLUTION);
  parseWireJson(`[${POLLUTION}, {"a":${POLLUTION}}]`);

  expect(isPolluted()).toBe(false);
});
