import { createHash } from "node:crypto";
import type { Clock } from "../../platform/ports/clock.ts";
import type { Random } from "../../platform/ports/random.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { changesText } from "./change-set.ts";
import type { ChangeSet, NewChangeSet, Stack, Stacks, ZipBucket } from "./stacks.ts";
import type { StagePackage } from "./stage-package.ts";
import { watchStack } from "./watch-stack.ts";

export interface DeployDeps {
  readonly stacks: Stacks;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Prints the changes. */
  readonly show: (text: (columns: number | undefined) => string) => void;
  /** Prints a line about the progress. */
  readonly note: (text: string) => void;
  /** Whether the operator agrees; undefined if the question cannot be asked. */
  readonly agrees: (question: string) => Promise<boolean | undefined>;
}

export interface Deployed {
  /** Whether anything changed. */
  readonly isChanged: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

const refused = (message: string): ExitError => new ExitError(EXIT.refused, message);

const toDelete = (stackName: string): string =>
  `aws cloudformation delete-stack --stack-name ${stackName}`;

/** States of a stack that was never complete, or is no longer. */
const MADE_IN_VAIN: ReadonlySet<string> = new Set([
  ...["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"],
]);

/** Why a stack in this status takes no deployment, and what to do; undefined if it takes one. */
const obstacleOf = (stackName: string, status: string): string | undefined => {
  if (status === "REVIEW_IN_PROGRESS") {
    return `the first change set of the stack was never executed, and it has no resources; delete it with ${toDelete(stackName)}, then deploy again`;
  }
  if (status.endsWith("_IN_PROGRESS")) {
    return "another deployment is under way; wait for its end, then deploy again";
  }
  if (status === "UPDATE_ROLLBACK_FAILED") {
    return `an earlier rollback failed; repair what it names, then aws cloudformation continue-update-rollback --stack-name ${stackName}`;
  }
  if (status === "UPDATE_FAILED") {
    return `an earlier update failed and was not rolled back; repair what it names, then aws cloudformation rollback-stack --stack-name ${stackName}, and deploy again`;
  }
  if (MADE_IN_VAIN.has(status)) {
    return `its creation or deletion failed, so it takes no update; delete it with ${toDelete(stackName)}, then deploy again`;
  }
  return undefined;
};

const requireReady = (stackName: string, stack: Stack | undefined): void => {
  const obstacle = stack && obstacleOf(stackName, stack.status);
  if (obstacle) throw refused(`the stack ${stackName} is in ${stack.status}: ${obstacle}`);
};

const isAccessDenied = (error: unknown): boolean =>
  error instanceof Error && error.name === "AccessDeniedException";

const requireParameters = async (
  { keyParameters, region }: StagePackage,
  { stacks, note }: DeployDeps,
): Promise<void> => {
  const missing = await stacks.missingParameters(keyParameters).catch((error: unknown) => {
    // The operator of a deployment need not be allowed to read the keys.
    if (!isAccessDenied(error)) throw error;
    note(
      `not allowed to look for the SSM parameters; they must exist: ${keyParameters.join(", ")}`,
    );
    return [];
  });
  if (missing.length === 0) return;
  const lines = missing.map(
    (name) =>
      `  aws ssm put-parameter --region ${region} --type SecureString --name ${name} --value "$VALUE"`,
  );
  throw refused(
    [
      `SSM parameters are missing in ${region}; functions read them, so create them first:`,
      ...lines,
    ].join("\n"),
  );
};

const PENDING_MS = 2_000;
/** CloudFormation takes seconds for a change set of this size. */
const CHANGE_SET_LIMIT_MS = 300_000;

const readyChangeSet = async (
  { stackName, name }: NewChangeSet,
  { stacks, clock, signal }: DeployDeps,
): Promise<Exclude<ChangeSet, { kind: "pending" }>> => {
  const endsAt = clock.now() + CHANGE_SET_LIMIT_MS;
  while (!signal.aborted && clock.now() < endsAt) {
    const changeSet = await stacks.changeSet(stackName, name);
    if (changeSet.kind !== "pending") return changeSet;
    await clock.sleep(PENDING_MS, signal);
  }
  const why = signal.aborted
    ? "interrupted"
    : "CloudFormation did not finish the change set in time";
  throw new ExitError(EXIT.failed, `not deployed: ${why}`);
};

/** Removes a change set; what it would have changed stays as it is. */
const discard = async (
  { stackName, name, isNew }: NewChangeSet,
  { stacks, note }: DeployDeps,
): Promise<void> => {
  try {
    await stacks.removeChangeSet(stackName, name);
    if (isNew) await stacks.removeEmptyStack(stackName);
    note(
      `removed the change set ${name}; the stack ${stackName} ${isNew ? "was not created" : "is unchanged"}`,
    );
  } catch {
    note(
      `could not remove the change set ${name}: aws cloudformation delete-change-set --stack-name ${stackName} --change-set-name ${name}`,
    );
  }
};

/** Shows a ready change set and asks. @throws ExitError unless the operator agrees */
const agree = async (
  changes: Extract<ChangeSet, { kind: "ready" }>["changes"],
  stackName: string,
  { show, agrees, signal }: DeployDeps,
): Promise<void> => {
  show((columns) => changesText(changes, columns));
  const answer = await agrees(`Deploy these changes to the stack ${stackName}?`);
  if (answer === undefined) {
    throw refused("not deployed: without a terminal, add --yes to deploy without confirmation");
  }
  if (!answer || signal.aborted) throw new ExitError(EXIT.failed, "not deployed: not confirmed");
};

/** CloudFormation's error for a template that it cannot read, in words. */
const refusedTemplate = (error: unknown): unknown =>
  error instanceof Error && error.name === "ValidationError"
    ? new ExitError(EXIT.failed, `CloudFormation refuses the template: ${error.message}`)
    : error;

/**
 * Changes the stack to a template, after the operator has seen the changes.
 * @returns whether anything changed
 */
const applyTemplate = async (
  stage: StagePackage,
  given: Pick<NewChangeSet, "isNew" | "template">,
  deps: DeployDeps,
): Promise<boolean> => {
  const { stacks, random } = deps;
  const { stackName, tags } = stage;
  const changeSet = { stackName, name: `skyhook-${random.uuid()}`, tags, ...given };
  const last = given.isNew
    ? undefined
    : (await stacks.eventsAfter(stackName, undefined)).at(-1)?.id;
  await stacks.createChangeSet(changeSet).catch((error: unknown) => {
    throw refusedTemplate(error);
  });
  try {
    const ready = await readyChangeSet(changeSet, deps);
    if (ready.kind === "failed") {
      throw new ExitError(EXIT.failed, `CloudFormation refuses the change set: ${ready.reason}`);
    }
    if (ready.kind === "empty") {
      await discard(changeSet, deps);
      return false;
    }
    await agree(ready.changes, stackName, deps);
  } catch (error) {
    await discard(changeSet, deps);
    throw error;
  }
  await stacks.execute(stackName, changeSet.name);
  await watchStack(stackName, last, deps);
  return true;
};

/** The bucket of the zips. Creates the stack with its bucket alone if there is none. */
const bucketOf = async (
  stage: StagePackage,
  stack: Stack | undefined,
  deps: DeployDeps,
): Promise<ZipBucket> => {
  const { stackName, bucketTemplate } = stage;
  if (!stack) {
    deps.note(
      `the stack ${stackName} is new: first it gets the bucket of the zips, then everything else`,
    );
    const text = JSON.stringify(bucketTemplate);
    await applyTemplate(stage, { isNew: true, template: { text } }, deps);
  }
  const bucket = await deps.stacks.ownBucket(stackName);
  if (bucket !== undefined) return bucket;
  throw refused(
    `the stack ${stackName} has no bucket of its own; add --bucket with the bucket of its zips`,
  );
};

/**
 * Uploads the zips, then the template. A key is no proof of its content, because others may write to a shared bucket: an
 * object that is there already is replaced, not trusted.
 */
const uploadAll = async (
  { zips, template, prefix }: StagePackage,
  bucket: ZipBucket,
  { stacks, note, signal }: DeployDeps,
): Promise<{ readonly bucket: string; readonly key: string }> => {
  for (const { key, bytes } of zips) {
    if (signal.aborted) throw new ExitError(EXIT.failed, "not deployed: interrupted");
    await stacks.upload(bucket, key, bytes);
  }
  const text = Buffer.from(JSON.stringify(template));
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const key = `${prefix}/template-${hash}.json`;
  await stacks.upload(bucket, key, text);
  note(`uploaded ${zips.length} zips to ${bucket.name}`);
  return { bucket: bucket.name, key };
};

/**
 * Deploys a stage by change sets. Nothing changes before the operator agrees, but a new stack needs two of them: its
 * bucket is created before the zips can be uploaded.
 * @param bucket an existing bucket for the zips
 * @throws ExitError when the stack takes no deployment, the operator does not agree, or the deployment fails
 */
export const deployStage = async (
  stage: StagePackage,
  bucket: string | undefined,
  deps: DeployDeps,
): Promise<Deployed> => {
  const { stacks } = deps;
  const stack = await stacks.find(stage.stackName);
  requireReady(stage.stackName, stack);
  await requireParameters(stage, deps);
  const target =
    bucket === undefined ? await bucketOf(stage, stack, deps) : { name: bucket, owner: undefined };
  try {
    const template = await uploadAll(stage, target, deps);
    const isNew = stack === undefined && bucket !== undefined;
    const isChanged = await applyTemplate(stage, { isNew, template }, deps);
    const after = await stacks.find(stage.stackName);
    return { isChanged, outputs: after?.outputs ?? {} };
  } catch (error) {
    const continues = error instanceof ExitError && error.exitCode === EXIT.timedOut;
    if (!stack && !bucket && !continues) {
      deps.note(
        `the stack ${stage.stackName} has only its bucket so far; the next deploy goes on from there`,
      );
    }
    throw error;
  }
};
