import {
  type Change,
  CloudFormationClient,
  CreateChangeSetCommand,
  DeleteChangeSetCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  type DescribeChangeSetCommandOutput,
  DescribeStackEventsCommand,
  DescribeStackResourceCommand,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  type StackEvent as SdkEvent,
} from "@aws-sdk/client-cloudformation";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { GetParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import { createAwsClient } from "../../platform/aws/aws-client.ts";
import type { ResourceChange } from "./change-set.ts";
import type { ChangeSet, StackEvent, Stacks } from "./stacks.ts";
import { BUCKET } from "./template.ts";

/** CloudFormation answers some calls only after seconds, and an upload takes as long as the network needs. */
const PATIENT = { maxAttempts: 3, answerMs: 60_000, stallMs: 60_000, callMs: 180_000 };
/** Names that GetParameters accepts at once. */
const PARAMETERS_PER_CALL = 10;

const actionOf = ({ Action, Replacement }: NonNullable<Change["ResourceChange"]>) => {
  if (Action === "Add" || Action === "Import") return "add";
  if (Action === "Remove") return "remove";
  if (Replacement === "True") return "replace";
  return Replacement === "Conditional" || Action === "Dynamic" ? "may-replace" : "change";
};

const changeOf = ({ ResourceChange: change }: Change): readonly ResourceChange[] => {
  if (!change) return [];
  const targets = (change.Details ?? []).map(({ Target }) => Target?.Name ?? Target?.Attribute);
  return [
    {
      action: actionOf(change),
      type: change.ResourceType ?? "",
      logicalId: change.LogicalResourceId ?? "",
      properties: [...new Set(targets.filter((name) => name !== undefined))],
      isKept: /Retain|Snapshot/.test(change.PolicyAction ?? ""),
    },
  ];
};

/** CloudFormation reports a change set without changes as failed. */
const WITHOUT_CHANGES = /didn't contain changes|no updates are to be performed/i;

const stateOf = (
  { Status, StatusReason = "" }: DescribeChangeSetCommandOutput,
  changes: readonly Change[],
): ChangeSet => {
  if (Status === "CREATE_COMPLETE") {
    return changes.length === 0
      ? { kind: "empty" }
      : { kind: "ready", changes: changes.flatMap(changeOf) };
  }
  if (Status !== "FAILED") return { kind: "pending" };
  return WITHOUT_CHANGES.test(StatusReason)
    ? { kind: "empty" }
    : { kind: "failed", reason: StatusReason };
};

const eventOf = (event: SdkEvent): StackEvent => ({
  id: event.EventId ?? "",
  logicalId: event.LogicalResourceId ?? "",
  type: event.ResourceType ?? "",
  status: event.ResourceStatus ?? "",
  reason: event.ResourceStatusReason,
});

/** CloudFormation has no error of its own for a stack or a resource that does not exist. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && /does not exist/.test(error.message);

/** The AWS account in an ARN. */
const accountIn = (arn: string | undefined): string | undefined => arn?.split(":")[4] || undefined;

/** An address that CloudFormation accepts as TemplateURL. */
const urlOf = (region: string, bucket: string, key: string): string => {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://s3.${region}.${domain}/${bucket}/${key}`;
};

/** The stacks of an AWS account in a region, with the credentials of the environment. */
export const createAwsStacks = (region: string): Stacks => {
  const cloudFormation = createAwsClient(CloudFormationClient, PATIENT, { region });
  const s3 = createAwsClient(S3Client, PATIENT, { region });
  const ssm = createAwsClient(SSMClient, PATIENT, { region });

  const find: Stacks["find"] = async (StackName) => {
    try {
      const { Stacks: [stack] = [] } = await cloudFormation.send(
        new DescribeStacksCommand({ StackName }),
      );
      const outputs = (stack?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "" }) => [
        OutputKey,
        OutputValue,
      ]);
      return stack && { status: stack.StackStatus ?? "", outputs: Object.fromEntries(outputs) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  return {
    find,
    async ownBucket(StackName) {
      try {
        const { StackResourceDetail } = await cloudFormation.send(
          new DescribeStackResourceCommand({ StackName, LogicalResourceId: BUCKET }),
        );
        const { PhysicalResourceId: name, StackId } = StackResourceDetail ?? {};
        return name === undefined ? undefined : { name, owner: accountIn(StackId) };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async missingParameters(names) {
      const missing: string[] = [];
      for (let at = 0; at < names.length; at += PARAMETERS_PER_CALL) {
        const Names = names.slice(at, at + PARAMETERS_PER_CALL);
        const { InvalidParameters = [] } = await ssm.send(new GetParametersCommand({ Names }));
        missing.push(...InvalidParameters);
      }
      return missing;
    },
    async upload({ name, owner }, Key, Body) {
      // After a bucket is deleted, anyone may create one of its name, from which CloudFormation would deploy.
      await s3.send(new PutObjectCommand({ Bucket: name, Key, Body, ExpectedBucketOwner: owner }));
    },
    async createChangeSet({ stackName, name, isNew, template, tags }) {
      await cloudFormation.send(
        new CreateChangeSetCommand({
          StackName: stackName,
          ChangeSetName: name,
          ClientToken: name,
          ChangeSetType: isNew ? "CREATE" : "UPDATE",
          ...("text" in template
            ? { TemplateBody: template.text }
            : { TemplateURL: urlOf(region, template.bucket, template.key) }),
          Capabilities: ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
          Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
        }),
      );
    },
    async changeSet(StackName, ChangeSetName) {
      const changes: Change[] = [];
      for (let NextToken: string | undefined; ; ) {
        const reply = await cloudFormation.send(
          new DescribeChangeSetCommand({ StackName, ChangeSetName, NextToken }),
        );
        changes.push(...(reply.Changes ?? []));
        NextToken = reply.NextToken;
        if (NextToken === undefined) return stateOf(reply, changes);
      }
    },
    async removeChangeSet(StackName, ChangeSetName) {
      await cloudFormation.send(new DeleteChangeSetCommand({ StackName, ChangeSetName }));
    },
    async removeEmptyStack(StackName) {
      const stack = await find(StackName);
      if (stack?.status !== "REVIEW_IN_PROGRESS") return;
      await cloudFormation.send(new DeleteStackCommand({ StackName }));
    },
    async execute(StackName, ChangeSetName) {
      await cloudFormation.send(
        new ExecuteChangeSetCommand({
          StackName,
          ChangeSetName,
          ClientRequestToken: ChangeSetName,
        }),
      );
    },
    async eventsAfter(StackName, id) {
      const events: StackEvent[] = [];
      for (let NextToken: string | undefined; ; ) {
        const reply = await cloudFormation.send(
          new DescribeStackEventsCommand({ StackName, NextToken }),
        );
        // The newest first.
        for (const event of (reply.StackEvents ?? []).map(eventOf)) {
          if (event.id === id) return events.reverse();
          events.push(event);
        }
        NextToken = reply.NextToken;
        if (NextToken === undefined) return events.reverse();
      }
    },
  };
};
