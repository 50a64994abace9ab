import pc from "picocolors";
import * as z from "zod";
import type { BusEvent } from "../local/bus-records.ts";

const detailSchema = z.object({
  metadata: z.object({ commandId: z.string().optional(), time: z.string() }),
  data: z.looseObject({
    operation: z.string().optional(),
    lane: z.string().optional(),
    taskId: z.string().optional(),
    outcome: z.string().optional(),
    reason: z.string().optional(),
    durationMs: z.number().optional(),
    requestedCommandId: z.string().optional(),
    createdResources: z
      .record(z.string(), z.array(z.union([z.string(), z.number()])).nullable())
      .optional(),
    problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  }),
});

type Data = z.output<typeof detailSchema>["data"];

/** The first group of a UUID is enough to tell one resource of a run from another. */
const shortened = (part: string): string =>
  part.replace(/^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "$1");

/** Without the account, which is the same for every line of a local run. */
const laneText = (lane: string | undefined): string => {
  const [, resource, ...parts] = lane?.split("/").map(decodeURIComponent) ?? [];
  return resource === undefined
    ? "-"
    : [resource, parts.filter(Boolean).map(shortened).join("/")].join(" ");
};

const problemText = ({ problems = [] }: Data): string =>
  problems.map(({ path, rule }) => (path === "" ? rule : `${path}: ${rule}`)).join("; ");

const createdText = ({ createdResources = {} }: Data): string =>
  Object.entries(createdResources)
    .map(([kind, ids]) => `, ${kind} ${(ids ?? []).join(" ")}`)
    .join("");

const happened = (detailType: string, data: Data): string => {
  switch (detailType) {
    case "CommandAccepted":
      return `accepted ${data.operation}`;
    case "CommandRejected":
      return pc.yellow(`rejected (${data.reason}) ${problemText(data)}`);
    case "TaskFinished":
      return `task ${data.taskId} finished${createdText(data)}`;
    case "TaskFailed":
      return pc.red(`task ${data.taskId} failed: ${problemText(data)}`);
    case "CommandSucceeded":
      return pc.green(
        data.outcome === "no-op" ? "succeeded, there was nothing to do" : "succeeded",
      );
    case "CommandFailed":
      return pc.red(`failed (${data.reason}) ${problemText(data)}`);
    default:
      return detailType;
  }
};

/** One line an event: time, lane, command, what happened, how long it took. */
export const eventLine = (event: BusEvent): string => {
  const { metadata, data } = detailSchema.parse(event.detail);
  const command = metadata.commandId ?? data.requestedCommandId ?? "-";
  const took =
    data.durationMs === undefined ? "" : pc.dim(` ${(data.durationMs / 1000).toFixed(1)} s`);
  return [
    pc.dim(metadata.time.slice(11, 23)),
    laneText(data.lane).padEnd(40),
    pc.bold(command.padEnd(26)),
    happened(event["detail-type"], data) + took,
  ].join("  ");
};
