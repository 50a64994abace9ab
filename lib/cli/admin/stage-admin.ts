import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { type Admin, Refusal } from "../../admin/admin.ts";
import { checkRequest } from "../../admin/forms.ts";
import { parseJson } from "../../contract/json.ts";
import { problemsText } from "../../contract/problem.ts";
import { readRequest } from "../../engine/read-request.ts";
import type { RequestContext } from "../../engine/request.ts";
import { commandRequestedSchema } from "../../events/requests.ts";
import { createAwsClient } from "../../platform/aws/aws-client.ts";
import { createAccess } from "../../provider/access.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import type { Ports } from "../verb.ts";
import { awsTrouble, stageResource } from "./aws.ts";
import { stageCommands } from "./stage-commands.ts";
import { type StageOptions, stageDeadLetters } from "./stage-dead-letters.ts";
import { stageJobs } from "./stage-jobs.ts";
import { openStageLedger, type StageLedger } from "./stage-ledger.ts";

/** `source` of requests from the console. The bus refuses Skyhook's own source from anyone but its functions. */
const CONSOLE_SOURCE = "skyhook-console";

/** Without the accounts file, only intake checks rights, and chooses the account. */
const RIGHTS_UNKNOWN: RequestContext["access"] = {
  accountsOf: () => [""],
  mayRun: () => true,
  maySee: () => true,
};

/** Puts a request on the bus of the stage. @throws ExitError when EventBridge does not take it */
const putRequest = async (stage: string, detail: unknown): Promise<void> => {
  const EventBusName = stageResource(stage, "events");
  const entry = {
    ...{ EventBusName, Source: CONSOLE_SOURCE, DetailType: "CommandRequested" },
    Detail: JSON.stringify(detail),
  };
  const { Entries } = await createAwsClient(EventBridgeClient)
    .send(new PutEventsCommand({ Entries: [entry] }))
    .catch((error: unknown) => {
      throw awsTrouble(error, `no bus ${EventBusName} in this AWS account and region`);
    });
  const [outcome] = Entries ?? [];
  if (outcome?.EventId !== undefined) return;
  const { ErrorCode = "no answer", ErrorMessage = "" } = outcome ?? {};
  throw new ExitError(
    EXIT.failed,
    `EventBridge did not take the request: ${ErrorCode} ${ErrorMessage}`.trimEnd(),
  );
};

/** Requests for the bus of a stage. Each gets an id, so that a repeated put is one request. */
const stageRequests = (
  { at, awsAccount }: StageLedger,
  { stage, accounts, random }: StageOptions,
): Pick<Required<Admin>, "check" | "send"> => {
  const context = async (): Promise<RequestContext> => {
    const sender = await at(awsAccount);
    const access = accounts ? createAccess(accounts, sender) : RIGHTS_UNKNOWN;
    return { sender, access, eventId: random.uuid() };
  };
  return {
    check: async (text) => checkRequest(parseJson(text), await context()),
    async send(text) {
      const raw = parseJson(text);
      const read = readRequest(raw, await context());
      if (read.kind === "rejected") throw new Refusal(400, problemsText(read.rejection.problems));
      const { commandId, eventId } = read.request;
      const { metadata, data } = commandRequestedSchema.parse(raw);
      await putRequest(stage, { metadata: { ...metadata, id: eventId, commandId }, data });
      return { commandId, eventId };
    },
  };
};

/**
 * The admin of a deployed stage, with the AWS credentials of the environment. Every method throws an ExitError
 * when AWS does not answer or refuses.
 */
export const openStageAdmin = (options: StageOptions & Ports): Admin => {
  const { stage, accounts, clock } = options;
  const stageLedger = openStageLedger(stage, clock);
  return {
    async session() {
      return {
        ...{ kind: "stage", name: stage, sender: await stageLedger.at(stageLedger.awsAccount) },
        accounts: accounts?.accounts.map(({ name }) => name) ?? [],
        readUnits: stageLedger.consumed().read,
      };
    },
    ...stageCommands(stageLedger),
    deadLetters: stageDeadLetters(stageLedger, options),
    ...stageJobs(stageLedger, stage, options),
    ...stageRequests(stageLedger, options),
  };
};
