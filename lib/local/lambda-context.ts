import type { Context } from "aws-lambda";
import { deployment } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";

/** The context of one invocation on this machine: the same shape, its time measured by our clock. */
export const lambdaContext = (
  functionName: string,
  timeoutMs: number,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Context => {
  const endsAt = clock.now() + timeoutMs;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}`,
    memoryLimitInMB: String(deployment.memoryMegabytes),
    awsRequestId: random.uuid(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Math.max(0, endsAt - clock.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
};
