import * as z from "zod";

/**
 * Events in `intake-dead-letter`: those that a rule could not put into the queue of intake, and those
 * that intake failed at while rules still called it.
 */

/** The attribute in which EventBridge names the rule that could not deliver. */
export const RULE_ATTRIBUTE = "RULE_ARN";

/** What Lambda writes of a call that failed at every retry. Source: Lambda's developer guide. */
const invocationRecordSchema = z.looseObject({
  requestContext: z.looseObject({ functionArn: z.string() }),
  requestPayload: z.unknown(),
});

const callSchema = z.looseObject({ reaction: z.string(), event: z.looseObject({}) });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Makes the body of such a message what a rule would have put into the queue of intake.
 * @param reactionRules with which the names of the rules of reactions begin
 * @param ruleArn of the rule that could not deliver
 */
export const undeliveredCall = (
  reactionRules: string,
  body: string,
  ruleArn: string | undefined,
): string => {
  const json = parse(body);
  const record = invocationRecordSchema.safeParse(json).data;
  if (record) return JSON.stringify(record.requestPayload);
  const rule = ruleArn?.split("/").at(-1);
  // EventBridge may keep the event as it was, before its target's template named the reaction.
  return rule?.startsWith(reactionRules) &&
    json !== undefined &&
    !callSchema.safeParse(json).success
    ? JSON.stringify({ reaction: rule.slice(reactionRules.length), event: json })
    : body;
};
