import { describe, expect, it } from "vitest";
import * as z from "zod";
import { bulkPageSchema } from "../../../lib/admin/bulk-cancel.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { commandOf } from "../../support/commands.ts";
import { useLocalConsole } from "./use-local-console.ts";

const run = useLocalConsole();

const put = async (id: string, fields: Partial<Command> = {}) => {
  const acceptedAt = run.automation.deps.clock.now() - 1_000;
  const given = { sender: LOCAL_SENDER, id, acceptedAt, deadline: acceptedAt + 1e6, ...fields };
  const command = commandOf(given);
  await commands.write(run.automation.deps.ledger, commandKey(command), undefined, command);
};
const statusOf = async (id: string) =>
  (await commands.read(run.automation.deps.ledger, `${LOCAL_SENDER}/${id}`))?.value.state;

const preview = (query: string) =>
  fetch(`${run.gateway.url}/commands/cancel/preview?${query}`, { headers: run.gateway.headers });
const apply = (body: unknown) =>
  fetch(`${run.gateway.url}/commands/cancel`, {
    method: "POST",
    headers: { ...run.gateway.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const pageIn = async (response: Response) => bulkPageSchema.parse(await response.json());

describe("a bulk cancellation of a local run", () => {
  it("is previewed, then applied with the bound of the preview", async () => {
    await put("waits", { state: { status: "waiting" } });
    const previewed = await preview("account=local&status=waiting");
    const { rows, until } = await pageIn(previewed);
    await put("late", { state: { status: "waiting" }, acceptedAt: Date.parse(until) + 1 });

    const applied = await apply({ account: "local", status: "waiting", until });

    expect(previewed.status).toBe(200);
    expect(rows).toMatchObject([{ id: "waits", status: "waiting", cancel: { kind: "stopped" } }]);
    expect(applied.status).toBe(202);
    expect(await pageIn(applied)).toMatchObject({ rows: [{ id: "waits" }] });
    // The lane is handed over and the event published at once.
    expect(await statusOf("waits")).toMatchObject({ status: "cancelled", settled: true });
    expect(await statusOf("late")).toEqual({ status: "waiting" });
  });

  it.each([
    [{ account: "local" }, "until: needs the until of the preview"],
    [
      { until: "2026-01-01T00:00:00Z" },
      "needs at least one of account, operation, sender, resource, status, since",
    ],
  ])("is refused for %j", async (body, error) => {
    const answer = await apply(body);

    expect(answer.status).toBe(400);
    expect(z.object({ error: z.string() }).parse(await answer.json())).toEqual({ error });
  });

  it("has no preview without a filter", async () => {
    expect((await preview("")).status).toBe(400);
  });

  it("does not hide a command whose id is the name of a route", async () => {
    await put("cancel", { state: { status: "waiting" } });
    const url = `${run.gateway.url}/commands/cancel`;

    const looked = await fetch(url, { headers: run.gateway.headers });
    await fetch(`${url}/cancel`, {
      method: "POST",
      headers: { ...run.gateway.headers, "content-type": "application/json" },
      body: "{}",
    });

    expect(await looked.json()).toMatchObject({ commandId: "cancel", status: "waiting" });
    expect(await statusOf("cancel")).toMatchObject({ status: "cancelled" });
  });
});
