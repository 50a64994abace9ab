import { describe, expect, test } from "vitest";
import { type ListPage, type ListRow, listQuerySchema } from "../../../lib/admin/list-query.ts";
import { EXIT, ExitError } from "../../../lib/cli/exit-code.ts";
import { type ListCheck, watchList } from "../../../lib/cli/list-watch.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";

const row = (id: string, status = "running"): ListRow => ({
  id,
  sender: "own",
  operation: "update-policy",
  status,
  at: "2026-01-01T00:00:00.000Z",
});

const lost = new ExitError(EXIT.unreachable, "nothing answers");

/** Watches a list with these answers in order, and stops after the last one. */
const watching = async (
  answers: readonly (ListPage | ExitError)[],
  { limit = 50 }: { readonly limit?: number } = {},
) => {
  const stopping = new AbortController();
  const opened: number[] = [];
  const slept: number[] = [];
  let asked = 0;
  const cursors: (string | undefined)[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: async (ms) => {
      slept.push(ms);
      if (asked === answers.length) stopping.abort();
    },
  };
  const open = async () => {
    opened.push(asked);
    return async ({ cursor }: { readonly cursor?: string | undefined }) => {
      cursors.push(cursor);
      const answer = answers[asked];
      asked += 1;
      if (answer instanceof ExitError) throw answer;
      return answer ?? { rows: [] };
    };
  };
  const query = listQuerySchema().parse({ limit });
  const checks: ListCheck[] = [];
  const watch = { open, query, clock, everyMs: 2_000, signal: stopping.signal };
  for await (const check of watchList(watch)) checks.push(check);
  return { checks, opened, slept, cursors };
};

const changedIn = (checks: readonly ListCheck[]) =>
  checks.map((check) =>
    check.kind === "lost" ? check.why : check.changed.map(({ id, status }) => `${id} ${status}`),
  );

describe("a watched list", () => {
  test("reports each row once, and again when it changes, the oldest first", async () => {
    const { checks, slept } = await watching([
      { rows: [row("b"), row("a")] },
      { rows: [row("b"), row("a")] },
      { rows: [row("c"), row("b"), row("a", "succeeded")] },
    ]);

    expect(changedIn(checks)).toEqual([
      ["a running", "b running"],
      [],
      ["a succeeded", "c running"],
    ]);
    expect(slept).toEqual([2_000, 2_000, 2_000]);
  });

  test("does not report a row again that left the newest page and returns", async () => {
    const { checks } = await watching([
      { rows: [row("a")] },
      { rows: [row("b")] },
      { rows: [row("a")] },
    ]);

    expect(changedIn(checks)).toEqual([["a running"], ["b running"], []]);
  });

  test("reads on after a burst of commands, until a row that is known", async () => {
    const { checks, cursors } = await watching(
      [
        { rows: [row("a")], cursor: "older" },
        { rows: [row("d"), row("c")], cursor: "at-c" },
        { rows: [row("b"), row("a")], cursor: "at-a" },
      ],
      { limit: 2 },
    );

    expect(changedIn(checks)).toEqual([["a running"], ["b running", "c running", "d running"]]);
    expect(cursors).toEqual([undefined, undefined, "at-c"]);
    expect(checks.at(-1)).toMatchObject({ rows: [{ id: "d" }, { id: "c" }] });
  });

  test("reports a lost connection, and connects again without repeating rows", async () => {
    const { checks, opened } = await watching([
      { rows: [row("a")] },
      lost,
      lost,
      { rows: [row("b"), row("a")] },
    ]);

    expect(changedIn(checks)).toEqual([
      ["a running"],
      "nothing answers",
      "nothing answers",
      ["b running"],
    ]);
    expect(opened).toEqual([0, 2, 3]);
  });

  test("ends with the error of its first check", async () => {
    await expect(watching([lost])).rejects.toBe(lost);
  });

  test("ends with an error that a retry does not mend", async () => {
    const refused = new ExitError(EXIT.refused, "no access");

    await expect(watching([{ rows: [] }, refused])).rejects.toBe(refused);
  });
});
