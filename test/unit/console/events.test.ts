import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StreamItem } from "../../../lib/admin/event-stream.ts";
import { createGatewayClient } from "../../../lib/cli/admin/gateway.ts";
import type { Automation } from "../../../lib/local/automation.ts";
import { type LocalConsole, openLocalConsole } from "../../support/local-console.ts";
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

  it("are not sent without the token", async () => {
    expect((await fetch(`${gateway.url}/events/stream`)).status).toBe(401);
  });

  it.each(["recent=1001", "recent=x", "type="])("refuse the query %s", async (query) => {
    const answer = await fetch(`${gateway.url}/events?${query}`, { headers: gateway.headers });

    expect(answer.status).toBe(400);
  });
});
