import type { Cloud as Aws } from "../../../../lib/local/cloud.ts";
import { OWN_SENDER, STARTS_AT } from "../plan/actors.ts";
import { type Asking, type Input, REACTION, UNKNOWN_TASK } from "../plan/deeds.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Surroundings } from "./machines.ts";
import type { People } from "./people.ts";

interface Doing {
  readonly around: Surroundings;
  readonly chronicle: Chronicle;
  readonly aws: Aws;
  readonly people: People;
  readonly keys: ApiKeys;
}

interface Told {
  readonly sender: string;
  readonly source: string;
  readonly type: string;
  readonly detail: unknown;
}

/** Returns a function that schedules an input for its time. */
export const createDoer = (doing: Doing): ((input: Input) => void) => {
  const { around, chronicle, aws, people, keys } = doing;
  const { timeline, queue } = around;

  const eventOf = ({ id, afterMs }: Input, { sender, source, type, detail }: Told) => ({
    version: "0",
    id,
    "detail-type": type,
    source,
    account: sender,
    time: `${new Date(STARTS_AT + afterMs).toISOString().slice(0, 19)}Z`,
    region: "us-east-1",
    resources: [],
    detail,
  });

  const deliver = (input: Input, told: Told): void => void aws.put(eventOf(input, told), input.id);

  /** Sends to a group of its own: the lane is computed from the body. Repeats a throttled send. */
  const send = async (input: Input, body: string): Promise<void> => {
    const { id } = input;
    await queue.send({ body, groupId: `any-${id}`, deduplicationId: id }).catch(async () => {
      await timeline.sleep(1_000);
      await send(input, body);
    });
  };

  const request = (
    input: Input,
    { sender, commandId, data, time }: Asking,
    isDirect: boolean,
  ): void => {
    const detail = { metadata: { commandId, ...(time !== undefined && { time }) }, data };
    if (isDirect && sender === OWN_SENDER) void send(input, JSON.stringify(detail));
    else deliver(input, { sender, source: "team", type: "CommandRequested", detail });
  };

  const invoice = (input: Input, { sender, data }: Asking): void => {
    const detail = data.params;
    const event = eventOf(input, { sender, source: "billing", type: "InvoicePaid", detail });
    void aws.put({ reaction: REACTION, event }, input.id);
  };

  const follow = (input: Input, { sender, commandId, data }: Asking, startedBy: string): void => {
    const begun = chronicle.effects.find(
      ({ command, taskIds }) => command === startedBy && taskIds.length > 0,
    );
    const taskId = begun?.taskIds[0] ?? UNKNOWN_TASK;
    const detail = { metadata: { commandId }, data: { taskId, account: data.account } };
    deliver(input, { sender, source: "team", type: "TaskFollowRequested", detail });
  };

  const ask = (input: Input, asking: Asking): void => {
    const { deed } = input;
    if (deed.kind === "request") request(input, asking, deed.way === "queue");
    if (deed.kind === "invoice") invoice(input, asking);
    if (deed.kind === "follow") follow(input, asking, deed.startedBy);
  };

  const forge = (input: Input, { sender, data }: Extract<Input["deed"], { kind: "forgery" }>) => {
    const detail = { metadata: { commandId: input.id }, data };
    deliver(input, { sender, source: "skyhook", type: "CommandRequested", detail });
  };

  const act = (input: Input): void => {
    const { deed, asking } = input;
    if (asking) ask(input, asking);
    if (deed.kind === "forgery") forge(input, deed);
    if (deed.kind === "rubbish") void send(input, "{ rubbish");
    if (deed.kind === "new tag") chronicle.tagChangedAt ??= timeline.now();
    if (deed.kind === "new key") keys.replace(deed.lateMs);
    if (deed.kind === "cancel") void people.cancel(deed.command);
    if (deed.kind === "resolve") people.resolveAll(deed);
  };

  return (input) => timeline.after(input.afterMs, () => act(input));
};
