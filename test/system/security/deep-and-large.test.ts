import { describe, expect, test } from "vitest";
import { parseMoneyJson, parseWireJson } from "../../../lib/contract/json.ts";
import { readReactions } from "../../../lib/intake/config-files.ts";
import { readWatchlist } from "../../../lib/jobs/prices/watchlist.ts";
import { readThresholdConfig } from "../../../lib/jobs/thresholds/config.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";
import { serve } from "../../../lib/service/serve.ts";
import { openLocalConsole } from "../../support/local-console.ts";
import { startProvider } from "../../support/provider.ts";
import { requestOf, shared, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";
import { createIntakeWorld, eventOf, OWN, updateReaction } from "../../unit/intake/intake-world.ts";
import { CONTEXT } from "../../unit/intake/read-file.ts";
import { openQuietly } from "../../unit/local/open-quietly.ts";
import { startService } from "../../unit/service/harness.ts";

const LEVELS = 100_000;
/** Nearly twice the largest limit, 1 MiB. */
const MEGABYTES = 2_000_000;

/** JSON texts that exceed every limit. */
const TOO_MUCH: readonly (readonly [string, string])[] = [
  ["lists in lists", `${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}`],
  ["objects in objects", `${'{"a":'.repeat(LEVELS)}0${"}".repeat(LEVELS)}`],
  ["one long text", JSON.stringify("x".repeat(MEGABYTES))],
  ["many small values", `[${"0,".repeat(MEGABYTES / 2)}0]`],
  ["many names", `{${Array.from({ length: MEGABYTES / 10 }, (_, at) => `"k${at}":0`).join()}}`],
  ["one long number", "9".repeat(MEGABYTES)],
];

describe.each([...TOO_MUCH, ["unclosed lists", "[".repeat(LEVELS)] as const])("%s", (_, text) => {
  test("is refused by the service, which keeps running", async () => {
    const { service } = await startService();
    const served = await serve(service, 0);
    const url = `${served.url}/cloud/v1/lifecycle_policies/1234567/76/1`;
    const headers = { authorization: "apikey local-key", "content-type": "application/json" };

    const answers = await Promise.all(
      [text, `{"name":${text}}`].map((body) => fetch(url, { method: "PATCH", headers, body })),
    );
    const next = await fetch(`${served.url}/cloud/v1/tasks`);
    await served.close();

    expect(answers.every(({ status }) => status === 400 || status === 413)).toBe(true);
    expect(next.status).toBe(401);
  });

  test("is refused by the gateway of a local run, which keeps running", async () => {
    const automation = await openQuietly();
    const gateway = await openLocalConsole(automation);
    const { headers } = gateway;

    const statuses = [];
    for (const path of ["commands", "events"]) {
      const answer = await fetch(`${gateway.url}/${path}`, {
        method: "POST",
        headers,
        body: text,
      });
      statuses.push(answer.status);
    }
    const next = await fetch(`${gateway.url}/prices`, { headers });
    await gateway.close();
    await automation.stop();

    expect(statuses.filter((status) => ![202, 400, 413].includes(status))).toEqual([]);
    expect(next.status).toBe(200);
  });

  test("becomes no command as a message of the queue", async () => {
    const world = await createWorld({ provider: startProvider });
    const request = JSON.stringify(updatePolicy("c1")).replace('"paused"', () => text);

    await world.handle(text);
    await world.handle(request);

    expect(await world.command("c1")).toBeUndefined();
    expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe.each(TOO_MUCH)("%s", (_, text) => {
  test("is rejected in the detail of an event", async () => {
    const world = await createIntakeWorld({ rights: shared(OWN) });
    const detail = requestOf("c1", { operation: "update-policy", body: JSON.parse(text) });

    await world.put(eventOf(OWN, "CommandRequested", detail));

    expect(world.publishedTypes()).toEqual(["CommandRejected"]);
  });

  test("is rejected at the path that a reaction reads", async () => {
    const reaction = updateReaction({ name: "$.detail.name" });
    const world = await createIntakeWorld({ rights: shared(OWN), reactions: [reaction] });

    await world.putFor("react", eventOf(OWN, "InvoicePaid", { name: JSON.parse(text) }));

    expect(world.publishedTypes()).toEqual(["CommandRejected"]);
  });
});

describe("a config file that exceeds a limit is reported:", () => {
  const READERS = {
    accounts: (text: string) => readAccountsFile(text),
    reactions: (text: string) => readReactions(text, CONTEXT),
    thresholds: readThresholdConfig,
    watchlist: readWatchlist,
  };
  const BILLION_LAUGHS = Array.from(
    { length: 12 },
    (_, at) =>
      `a${at}: &a${at} [${Array(10)
        .fill(at === 0 ? "ha" : `*a${at - 1}`)
        .join()}]`,
  ).join("\n");
  const ALIASES = [
    ["aliases of aliases", `${BILLION_LAUGHS}\naccounts: *a11\nreactions: *a11\n`],
    ["an alias of itself", "accounts: &a [*a]\nreactions: *a\nthresholds: *a\nitems: *a\n"],
  ] as const;
  /** Texts that one parser of all files refuses, after a second each. */
  const LARGE = [
    ["deep lists", "[".repeat(LEVELS)],
    ["deep maps", "{a: ".repeat(LEVELS)],
    ["deep blocks", Array.from({ length: 800 }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
    ["deep dashes", "- ".repeat(LEVELS)],
    ["many anchors", Array.from({ length: 20_000 }, (_, at) => `k${at}: &k${at} 0\n`).join("")],
    ["one long key", `? ${"x".repeat(400_000)}\n: 1\n`],
    ["a long number", `accounts: ${"9".repeat(400_000)}\n`],
  ] as const;

  test.each([
    ...Object.entries(READERS).flatMap(([file, read]) =>
      ALIASES.map(([what, text]) => [what, file, read, text] as const),
    ),
    ...LARGE.map(([what, text]) => [what, "accounts", READERS.accounts, text] as const),
  ])("%s in %s", (_what, _file, read, text) => {
    expect(read(text).kind).toBe("invalid");
  });

  test.each(Object.entries(READERS))("the size of a file of megabytes in %s", (_file, read) => {
    const problem = { path: "", rule: "the file is larger than 500000 bytes" };

    expect(read("# \n".repeat(MEGABYTES))).toMatchObject({ problems: [problem] });
  });
});

describe.each([
  ["wire JSON", parseWireJson],
  ["JSON with prices", parseMoneyJson],
])("in %s", (_, parse) => {
  test.each([
    ["zeros between two digits", `1${"0".repeat(300_000)}1`, Number.POSITIVE_INFINITY],
    ["zeros behind the point", `0.${"0".repeat(300_000)}1`, 0],
    ["nines only", "9".repeat(MEGABYTES), Number.POSITIVE_INFINITY],
    ["a long exponent", `1e${"9".repeat(300_000)}`, Number.POSITIVE_INFINITY],
  ])("a number of %s is read in no time", (_what, text, expected) => {
    expect(parse(`[${text}]`)).toEqual([expected]);
  });

  test("two hundred levels are read, two hundred and one are refused", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

    expect(parse(nested(200))).toBeInstanceOf(Array);
    expect(() => parse(nested(201))).toThrow(RangeError);
  });
});
