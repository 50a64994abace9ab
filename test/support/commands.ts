import type { Command } from "../../lib/engine/command.ts";

/** An accepted command, as in the ledger. @param fields override the defaults */
export const commandOf = (fields: Partial<Command> = {}): Command => ({
  sender: "own",
  id: "c1",
  account: "local",
  operation: "update-container",
  lane: "local/container/1/2/web",
  fingerprint: "f",
  correlationId: "c1",
  causationId: "event-c1",
  acceptedAt: 1_000,
  deadline: 7_201_000,
  params: { project_id: 1, region_id: 2, container_name: "web" },
  request: { params: {}, query: {}, body: { envs: { TOKEN: "hush" } } },
  attempts: [],
  attemptCount: 0,
  lostReplies: 0,
  outbox: [],
  state: { status: "accepted", lookAt: 31_000 },
  ...fields,
});
