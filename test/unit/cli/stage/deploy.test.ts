import { describe, expect, test } from "vitest";
import { deployStage } from "../../../../lib/cli/stage/deploy.ts";
import type { StagePackage } from "../../../../lib/cli/stage/stage-package.ts";
import { createFakeStacks, eventOf, type FakeAws } from "./fake-stacks.ts";

const TEMPLATE = { AWSTemplateFormatVersion: "", Description: "", Resources: {}, Outputs: {} };
const STAGE: StagePackage = {
  stackName: "skyhook-prod",
  prefix: "skyhook/prod",
  region: "eu-central-1",
  template: TEMPLATE,
  bucketTemplate: { ...TEMPLATE, Description: "the bucket" },
  zips: ["intake", "run-commands"].map((functionName) => ({
    functionName,
    key: `skyhook/prod/${functionName}-1.zip`,
    bytes: new Uint8Array(1),
  })),
  tags: { Application: "skyhook" },
  files: ["accounts.yaml", "reactions.yaml"],
  keyParameters: ["/skyhook/prod/api-key"],
};
const DEPLOYED: FakeAws = { stack: { status: "UPDATE_COMPLETE", outputs: {} }, bucket: "zips" };

interface Operator {
  readonly answer?: boolean | undefined;
  readonly bucket?: string;
  /** Aborted before the n-th sleep. */
  readonly stopAtSleep?: number;
}

/** Deploys to a fake AWS, as an operator who agrees unless the test says otherwise. */
const deploy = async (aws: FakeAws, operator: Operator = {}) => {
  const fake = createFakeStacks(aws);
  const notes: string[] = [];
  const shown: string[] = [];
  const stopping = new AbortController();
  let now = 0;
  let sleeps = 0;
  const outcome = await deployStage(STAGE, operator.bucket, {
    stacks: fake.stacks,
    clock: {
      now: () => now,
      sleep: async (durationMs) => {
        now += durationMs;
        sleeps += 1;
        if (sleeps === operator.stopAtSleep) stopping.abort();
      },
    },
    random: { fraction: () => 0, uuid: () => String(fake.created.length + 1) },
    signal: stopping.signal,
    show: (text) => shown.push(text(80)),
    note: (text) => notes.push(text),
    agrees: async () => ("answer" in operator ? operator.answer : true),
  }).catch((error: unknown) => error);
  return { outcome, notes, shown, ...fake };
};

describe("a deployment", () => {
  test("of a new stack creates its bucket first, then everything else", async () => {
    const { outcome, changes, created } = await deploy({});

    expect(outcome).toEqual({ isChanged: true, outputs: { EventBusArn: "arn" } });
    expect(changes.map((each) => each.replace(/template-\w+/, "template"))).toEqual([
      "create the change set",
      "execute the change set",
      "upload skyhook/prod/intake-1.zip",
      "upload skyhook/prod/run-commands-1.zip",
      "upload skyhook/prod/template.json",
      "create the change set",
      "execute the change set",
    ]);
    expect(created.map(({ isNew }) => isNew)).toEqual([true, false]);
    expect(created[0]?.template).toEqual({ text: JSON.stringify(STAGE.bucketTemplate) });
    expect(created[1]?.template).toMatchObject({ bucket: "zips" });
  });

  test("of a new stack with a named bucket needs one change set, which creates the stack", async () => {
    const { created } = await deploy({}, { bucket: "ours" });

    expect(created.map(({ isNew }) => isNew)).toEqual([true]);
    expect(created[0]?.template).toMatchObject({ bucket: "ours" });
  });

  test("without changes executes nothing and leaves no change set", async () => {
    const { outcome, changes, changeSetNames } = await deploy({
      ...DEPLOYED,
      changeSets: [{ kind: "pending" }, { kind: "empty" }],
    });

    expect(outcome).toMatchObject({ isChanged: false });
    expect(changes).not.toContain("execute the change set");
    expect(changeSetNames()).toEqual([]);
  });

  test("shows the changes before it asks", async () => {
    const { shown } = await deploy(DEPLOYED, { answer: false });

    expect(shown).toEqual([expect.stringContaining("+ add   SQS::Queue  Queue")]);
  });
});

describe("a deployment that is not confirmed", () => {
  test.each([
    [false, 1, "not deployed: not confirmed"],
    [undefined, 2, "not deployed: without a terminal, add --yes to deploy without confirmation"],
  ])(
    "changes nothing, and names the change set that it removed: %s",
    async (answer, exitCode, message) => {
      const { outcome, changes, notes, changeSetNames } = await deploy(DEPLOYED, { answer });

      expect(outcome).toMatchObject({ exitCode, message });
      expect(changes).not.toContain("execute the change set");
      expect(changeSetNames()).toEqual([]);
      expect(notes).toContain(
        "removed the change set skyhook-1; the stack skyhook-prod is unchanged",
      );
    },
  );

  test("leaves no stack behind if it would have created one", async () => {
    const { stack, notes } = await deploy({}, { answer: false });

    expect(stack()).toBeUndefined();
    expect(notes).toContain(
      "removed the change set skyhook-1; the stack skyhook-prod was not created",
    );
  });

  test("names the change set that it could not remove", async () => {
    const before = (call: string) => {
      if (call === "removeChangeSet") throw new Error("no network");
    };

    const { notes } = await deploy({ ...DEPLOYED, before }, { answer: false });

    expect(notes).toContain(
      "could not remove the change set skyhook-1: aws cloudformation delete-change-set --stack-name skyhook-prod --change-set-name skyhook-1",
    );
  });
});

describe("a deployment is refused", () => {
  test.each([
    ["REVIEW_IN_PROGRESS", "the first change set of the stack was never executed"],
    ["UPDATE_IN_PROGRESS", "another deployment is under way; wait for its end"],
    ["UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "another deployment is under way; wait for its end"],
    [
      "ROLLBACK_COMPLETE",
      "delete it with aws cloudformation delete-stack --stack-name skyhook-prod",
    ],
    ["DELETE_FAILED", "delete it with aws cloudformation delete-stack --stack-name skyhook-prod"],
    ["UPDATE_ROLLBACK_FAILED", "aws cloudformation continue-update-rollback"],
    ["UPDATE_FAILED", "aws cloudformation rollback-stack --stack-name skyhook-prod"],
  ])("for a stack in %s, before anything is created", async (status, advice) => {
    const { outcome, changes } = await deploy({ ...DEPLOYED, stack: { status, outputs: {} } });

    expect(outcome).toMatchObject({ exitCode: 2, message: expect.stringContaining(advice) });
    expect(outcome).toMatchObject({
      message: expect.stringContaining(`the stack skyhook-prod is in ${status}: `),
    });
    expect(changes).toEqual([]);
  });

  test("if an SSM parameter is missing, with the command that creates it", async () => {
    const missingParameters = ["/skyhook/prod/api-key"];

    const { outcome, changes } = await deploy({ ...DEPLOYED, missingParameters });

    expect(outcome).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--type SecureString --name /skyhook/prod/api-key"),
    });
    expect(changes).toEqual([]);
  });

  test("but not if the operator may not look for SSM parameters, which a note says", async () => {
    const before = (call: string) => {
      if (call !== "missingParameters") return;
      throw Object.assign(new Error("denied"), { name: "AccessDeniedException" });
    };

    const { outcome, notes } = await deploy({ ...DEPLOYED, before });

    expect(outcome).toMatchObject({ isChanged: true });
    expect(notes[0]).toBe(
      "not allowed to look for the SSM parameters; they must exist: /skyhook/prod/api-key",
    );
  });

  test("if the stack uses another bucket and none is named", async () => {
    const { outcome, changes } = await deploy({ ...DEPLOYED, bucket: undefined });

    expect(outcome).toMatchObject({
      exitCode: 2,
      message:
        "the stack skyhook-prod has no bucket of its own; add --bucket with the bucket of its zips",
    });
    expect(changes).toEqual([]);
  });

  test("if CloudFormation refuses the template", async () => {
    const before = (call: string) => {
      if (call !== "createChangeSet") return;
      throw Object.assign(new Error("unknown type"), { name: "ValidationError" });
    };

    const { outcome } = await deploy({ ...DEPLOYED, before });

    expect(outcome).toMatchObject({
      exitCode: 1,
      message: "CloudFormation refuses the template: unknown type",
    });
  });

  test("if the change set fails, with the reason and without a change set left", async () => {
    const { outcome, changeSetNames } = await deploy({
      ...DEPLOYED,
      changeSets: [{ kind: "failed", reason: "no such role" }],
    });

    expect(outcome).toMatchObject({
      exitCode: 1,
      message: "CloudFormation refuses the change set: no such role",
    });
    expect(changeSetNames()).toEqual([]);
  });

  test("if the change set does not get ready in time", async () => {
    const { outcome, changeSetNames } = await deploy({
      ...DEPLOYED,
      changeSets: [{ kind: "pending" }],
    });

    expect(outcome).toMatchObject({
      message: expect.stringContaining("did not finish the change set"),
    });
    expect(changeSetNames()).toEqual([]);
  });
});

describe("a deployment that CloudFormation runs", () => {
  const FAILED = {
    status: "UPDATE_ROLLBACK_COMPLETE",
    events: [
      eventOf({
        id: "1",
        logicalId: "Role",
        type: "AWS::IAM::Role",
        status: "CREATE_FAILED",
        reason: "not authorized",
      }),
      eventOf({ id: "2", status: "CREATE_FAILED", reason: "Resource creation cancelled" }),
      eventOf({ id: "3", logicalId: "skyhook-prod", status: "UPDATE_ROLLBACK_IN_PROGRESS" }),
    ],
  };

  test("fails with the reason of the first failed resource, without the cancelled ones", async () => {
    const { outcome } = await deploy({ ...DEPLOYED, execution: FAILED });

    expect(outcome).toMatchObject({
      exitCode: 1,
      message: [
        "the deployment failed, and the stack skyhook-prod is in UPDATE_ROLLBACK_COMPLETE: the stack is as before",
        "  Role (AWS::IAM::Role) CREATE_FAILED: not authorized",
      ].join("\n"),
    });
  });

  test("says that a new stack has its bucket if the rest fails", async () => {
    let executions = 0;
    const before = (call: string) => {
      if (call === "execute") executions += 1;
      if (call === "upload") throw new Error("no network");
    };

    const { notes } = await deploy({ before });

    expect(executions).toBe(1);
    expect(notes.at(-1)).toBe(
      "the stack skyhook-prod has only its bucket so far; the next deploy goes on from there",
    );
  });

  test("continues in AWS after Ctrl-C, which the message says", async () => {
    const { outcome, changes } = await deploy(
      { ...DEPLOYED, execution: { status: "UPDATE_IN_PROGRESS", events: [eventOf({ id: "1" })] } },
      { stopAtSleep: 2 },
    );

    expect(outcome).toMatchObject({
      exitCode: 4,
      message: expect.stringContaining("the deployment of skyhook-prod continues in AWS"),
    });
    expect(changes.at(-1)).toBe("execute the change set");
  });

  test("is not started after Ctrl-C, and leaves no change set", async () => {
    const { outcome, changes, changeSetNames } = await deploy(
      { ...DEPLOYED, changeSets: [{ kind: "pending" }] },
      { stopAtSleep: 1 },
    );

    expect(outcome).toMatchObject({ exitCode: 1, message: "not deployed: interrupted" });
    expect(changes).not.toContain("execute the change set");
    expect(changeSetNames()).toEqual([]);
  });

  test("reports the number of finished resources while it waits", async () => {
    const events = [eventOf({ id: "1" }), eventOf({ id: "2", logicalId: "Other" })];

    const { notes } = await deploy(
      { ...DEPLOYED, execution: { status: "UPDATE_IN_PROGRESS", events } },
      { stopAtSleep: 12 },
    );

    expect(notes.filter((note) => note === "UPDATE_IN_PROGRESS: 2 resources done")).toHaveLength(2);
  });

  test("outlives calls that AWS does not answer", async () => {
    let unanswered = 0;
    let isExecuted = false;
    const before = (call: string) => {
      if (call === "execute") isExecuted = true;
      if (call !== "eventsAfter" || !isExecuted || unanswered === 9) return;
      unanswered += 1;
      throw Object.assign(new Error(""), { name: "TimeoutError" });
    };

    const { outcome } = await deploy({ ...DEPLOYED, before });

    expect(unanswered).toBe(9);
    expect(outcome).toMatchObject({ isChanged: true });
  });
});
