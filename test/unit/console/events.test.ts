import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Refusal } from "../../../lib/admin/admin.ts";
import type { StreamItem } from "../../../lib/admin/event-stream.ts";
import { createGatewayClient } from "../../../lib/cli/admin/gateway.ts";
import { EXIT, ExitError } from "../../../lib/cli/exit-code.ts";
import { openConsole } from "../../../lib/console/console.ts";
import type { Automation } from "../../../lib/local/automation.ts";
import { createLocalAdmin } from "../../../lib/local/local-admin.ts";
import { type LocalConsole, openLocalConsole } from "../../support/local-console.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { openQuietly } from "../local/open-quietly.ts";

let automation: Automation;
let gateway: LocalConsole;
let reading: AbortController;

beforeEach(async () => {
  automation = await openQuietly();
  gateway = await openLocalConsole(automation);
  reading = new AbortController();
  automation.start();
});

afterEach(async () => {
  reading.abort();
  await gateway.close();
  await automation.stop();
});

const put = async (type: string) => {
  await automation.bus.put({ source: "test", "detail-type": type, detail: {} });
  await automation.bus.delivered();
};

const client = () => createGatewayClient({ endpoint: gateway.url, token: gateway.token });

const follow = (asked: { readonly types?: readonly string[]; readonly after?: string }) => {
  const query = { recent: 0, ...asked, types: [...(asked.types ?? [])] };
  const items = client().events(query, reading.signal);
  const next = async () => (await items.next()).value as StreamItem | undefined;
  return next;
};

/** The next event of a stream; signs of life are left out. */
const nextEvent = async (next: () => Promise<StreamItem | undefined>) => {
  for (;;) {
    const item = await next();
    if (item?.kind !== "idle") return item;
  }
};

describe("the events of a local run", () => {
  it("are listed, the oldest first, by type", async () => {
    for (const type of ["One", "Two", "Other", "Two"]) await put(type);

    const found = await client().recentEvents({ types: ["T*", "One"], recent: 2 });

    expect(found.map(({ type }) => type)).toEqual(["Two", "Two"]);
    expect(found[0]).toMatchObject({ sender: "000000000000", event: { source: "test" } });
  });

  it("come live, and continue after the last one", async () => {
    const next = follow({});
    // The stream is open before the event.
    expect(await next()).toEqual({ kind: "idle" });
    await put("One");
    const first = await nextEvent(next);
    await put("Two");
    const second = await nextEvent(next);
    const after = first?.kind === "event" ? first.cursor : "none";

    expect(first).toMatchObject({ event: { type: "One" } });
    expect(second).toMatchObject({ event: { type: "Two" } });
    expect(await nextEvent(follow({ after }))).toEqual(second);
  });

  it("report a gap to a reader of an earlier run", async () => {
    await put("One");

    expect(await nextEvent(follow({ after: "earlier-17" }))).toEqual({ kind: "gap" });
  });

  it("continue by the header of a browser", async () => {
    await put("One");
    const [one] = await client().recentEvents({ types: [], recent: 1 });
    const response = await fetch(`${gateway.url}/events/stream`, {
      headers: { ...gateway.headers, "last-event-id": "earlier-17" },
      signal: reading.signal,
    });
    const chunks = response.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = "";
    while (!text.includes('data: {"type"')) text += (await chunks?.next())?.value ?? "";

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(text).toContain("event: gap\ndata: {}\n\n");
    expect(text).toMatch(new RegExp(`id: \\S+\\ndata: .*"id":"${one?.id}"`));
  });

  it.each([
    { error: new ExitError(EXIT.failed, "AWS: expired"), reason: "AWS: expired", logged: [] },
    { error: new Error("a detail"), reason: "internal error of Skyhook", logged: ["a detail"] },
  ])("tell their reader why they ended: $reason", async ({ error, reason, logged }) => {
    const log = createRecordingLog();
    const follow = (): AsyncIterable<StreamItem> => {
      throw error;
    };
    const served = await openConsole(
      {
        admin: { ...createLocalAdmin(automation), events: { isLive: false, follow } },
        token: "the-token",
        allowsChanges: false,
        log,
        refusalOf: (each) =>
          each instanceof ExitError ? new Refusal(502, each.message) : undefined,
      },
      0,
    );
    const reader = createGatewayClient({ endpoint: served.url, token: served.token });
    const readAll = async () => {
      const items = reader.events({ types: [], recent: 0 }, reading.signal);
      for await (const { kind } of items) expect(kind).toBe("idle");
    };
    const end: unknown = await readAll().catch((thrown: unknown) => thrown);

    expect(end).toBeInstanceOf(ExitError);
    expect(String(end)).toContain(`Error: ${reason}`);
    expect(log.lines.map(({ fields }) => fields.errorMessage)).toEqual(logged);
    await served.close();
  });

  it("are not sent without the token", async () => {
    expect((await fetch(`${gateway.url}/events/stream`)).status).toBe(401);
  });

  it.each(["recent=1001", "recent=x", "type="])("refuse the query %s", async (query) => {
    const answer = await fetch(`${gateway.url}/events?${query}`, { headers: gateway.headers });

    expect(answer.status).toBe(400);
  });
});
