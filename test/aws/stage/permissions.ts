import { GetRolePolicyCommand, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { callSnapshotPrices, type DeployedStage } from "../deployed-stage.ts";
import { writeWatchlist } from "./watchlist.ts";

export const policySchema = z.object({
  Version: z.string(),
  Statement: z.array(z.looseObject({ Action: z.array(z.string()) })),
});

/**
 * The scenarios prove that the roles allow enough. That the emulator evaluates them at all is proven here: a
 * statement is removed, and the function must fail.
 */
export const testPermissions = (stageOf: () => DeployedStage): void => {
  test("the config bucket refuses requests without TLS", () => {
    expect(stageOf().bucketRefusal).toMatch(/explicit deny/);
  });

  describe("the role of snapshot-prices", () => {
    test.each(["s3:GetObject", "dynamodb:PutItem"])(
      "is evaluated: without %s the function fails",
      async (action) => {
        const stage = stageOf();
        await writeWatchlist(stage);
        const { iam } = stage.stack.aws;
        const RoleName = await stage.stack.physicalIdOf("SnapshotPricesRole");
        const policy = { RoleName, PolicyName: "function" };
        const { PolicyDocument = "" } = await iam.send(new GetRolePolicyCommand(policy));
        const document = policySchema.parse(JSON.parse(decodeURIComponent(PolicyDocument)));
        const Statement = document.Statement.filter(({ Action }) => !Action.includes(action));
        const allow = (allowed: unknown) =>
          iam.send(
            new PutRolePolicyCommand({ ...policy, PolicyDocument: JSON.stringify(allowed) }),
          );

        onTestFinished(async () => {
          await allow(document);
        });
        await allow({ ...document, Statement });
        const denied = await callSnapshotPrices(stage.stack);
        await allow(document);
        const allowed = await callSnapshotPrices(stage.stack);

        expect(denied).toContain("is not authorized to perform");
        expect(allowed).toBe("null");
      },
    );
  });
};
