import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";
import { parseJson } from "../contract/json.ts";
import type { JobName } from "../local/job-run.ts";
import { createAwsClient, untilWorkEnds } from "../platform/aws/aws-client.ts";
import { timeoutMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { awsTrouble } from "./aws-trouble.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { stageResource } from "./stage-option.ts";
import { visibleText } from "./visible-text.ts";

/** What Lambda makes of an error that leaves a function. */
const failureSchema = z.object({
  errorType: z.string().optional(),
  errorMessage: z.string().optional(),
});

const problemOf = (payload: string, functionError: string): string => {
  const { errorType, errorMessage } = failureSchema.safeParse(parseJson(payload)).data ?? {};
  return [errorType, errorMessage].filter(Boolean).join(": ") || functionError;
};

const isThrottled = (error: unknown): boolean =>
  error instanceof Error && error.name === "TooManyRequestsException";

/**
 * Invokes the function of a scheduled job as its schedule does (infra/schedules.cjs), with the AWS
 * credentials of the environment, and waits for its end.
 * @throws ExitError when AWS is not reached or refuses, or the function fails
 */
export const invokeJob = async (
  stage: string,
  name: JobName,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<void> => {
  const FunctionName = stageResource(stage, name);
  const tick = { id: random.uuid(), time: new Date(clock.now()).toISOString() };
  const client = createAwsClient(LambdaClient, untilWorkEnds(timeoutMsOf(name)));
  const command = new InvokeCommand({
    FunctionName,
    InvocationType: "RequestResponse",
    Payload: JSON.stringify(tick),
  });
  const reply = await client.send(command).catch((error: unknown) => {
    if (isThrottled(error)) {
      const text = `${name} was not started: Lambda throttles it; try again later`;
      throw new ExitError(EXIT.failed, text);
    }
    throw awsTrouble(error, `there is no function ${FunctionName} in this AWS account and region`);
  });
  if (reply.FunctionError === undefined) return;
  const problem = problemOf(reply.Payload?.transformToString() ?? "", reply.FunctionError);
  throw new ExitError(EXIT.failed, `${name} failed: ${visibleText(problem)}`);
};
