import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

let program: SkyhookProcess;
let environment: Record<string, string>;
let folder: string;

const prices = (...args: readonly string[]) => runVerb(["prices", ...args], environment);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-prices-"));
  const watchlist = join(folder, "watchlist.json");
  const items = [
    { name: "ddos", ddos: { region_id: 76 } },
    { name: "nowhere", ddos: { region_id: 5 } },
  ];
  await writeFile(watchlist, JSON.stringify({ items }));
  program = startSkyhook(["start", "--no-demo", "--json", "--watchlist", watchlist]);
  await program.printed("PricesCaptured");
  const endpoint = /listens at (\S+)/.exec(program.stderr())?.[1] ?? "none";
  environment = { SKYHOOK_ENDPOINT: endpoint };
});

afterAll(async () => {
  program.child.kill("SIGTERM");
  await program.ended();
  await rm(folder, { recursive: true });
});

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const shown = (text: string): readonly string[] =>
  text
    .replaceAll(TIME, "TIME")
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll(/ {2,}/g, "  "));

describe("skyhook prices", () => {
  it.concurrent("list shows each watched item, with its price or the reason for a missing one", async () => {
    const ended = await runSkyhook(["prices", "list"], environment);

    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown(ended.stdout)).toEqual([
      "name  kind  EUR/hour  EUR/month  last seen  last run",
      "ddos  ddos  0.08333333333333333  60  TIME  first",
      expect.stringMatching(/^nowhere {2}ddos( {2}-){3} {2}failed at TIME: get-ddos-price: 404/),
    ]);
  });

  it.concurrent("history shows each reading", async () => {
    const ended = await prices("history", "ddos");

    expect(shown(ended.stdout)).toEqual([
      "no.  read  last seen  EUR/hour  EUR/month",
      "1  TIME  TIME  0.08333333333333333  60",
    ]);
  });

  it.concurrent("prints CSV for a spreadsheet", async () => {
    const history = await prices("history", "ddos", "--csv");
    const listed = await prices("list", "--csv");
    const changes = await prices("changes", "--since", "1h", "--csv");
    const both = await prices("list", "--csv", "--json");

    expect(history.stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")).toBe(
      "name,number,kind,read_at,last_seen_at,status,currency,per_hour,per_month\r\nddos,1,ddos,TIME,TIME,show,EUR,0.08333333333333333,60\r\n",
    );
    expect(listed.stdout.split("\r\n")[2]).toMatch(/^nowhere,ddos,,,,,,,.*,failed,get-ddos-price/);
    expect(changes.stdout).toMatch(/^name,kind,number,[a-z_,]+per_month_after\r\n$/);
    expect(both).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it.concurrent("prints JSON for scripts", async () => {
    const listed = await prices("list", "--json");
    const history = await prices("history", "ddos", "--json");
    const changes = await prices("changes", "--since", "1h", "--json");

    expect(JSON.parse(listed.stdout)).toMatchObject([
      { name: "ddos", latest: { total: { per_month: "60", currency: "EUR" } } },
      { name: "nowhere", latest: null },
    ]);
    expect(JSON.parse(history.stdout)).toMatchObject([
      { number: 1, amounts: { price_per_day: "2", price_per_30d: "60" } },
    ]);
    expect(changes.stdout).toBe("[]\n");
  });

  it.concurrent.each([["24h"], ["7d"], ["90m"], ["2026-01-31"], ["2026-01-31T12:00:00Z"]])(
    "changes takes %s as since",
    async (since) => {
      expect(await prices("changes", "--since", since)).toEqual({
        exitCode: 0,
        stdout: "no changes\n",
        stderr: "",
      });
    },
  );

  it.concurrent.each([["yesterday"], ["7"], ["2026-02-30"], [""]])(
    "changes refuses %j as since, and says what it takes",
    async (since) => {
      const ended = await prices("changes", "--since", since);

      expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
      expect(ended.stderr).toMatch(/^--since: must be an age such as 24h/);
    },
  );

  it.concurrent("reports an unknown name", async () => {
    const ended = await prices("history", "web server");

    expect(ended).toMatchObject({
      exitCode: 2,
      stderr:
        "no prices of web server: the watchlist never had an item of this name; list the items: npx skyhook prices list\n",
    });
  });
});
