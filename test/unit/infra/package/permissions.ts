import { describe, expect, test } from "vitest";
import * as z from "zod";
import { arn, type TemplateReader } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";
import { RESOURCE_POLICIES } from "./resource-policies.ts";
import { STATEMENTS, TRUST } from "./statements.ts";

/** The permissions of each role, and all resource policies. */
export const testPermissions = ({ resource, ofType, all }: TemplateReader): void => {
  describe("permissions", () => {
    const roleSchema = z.strictObject({
      AssumeRolePolicyDocument: z.object({ Statement: z.array(z.unknown()) }),
      Policies: z.tuple([
        z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }) }),
      ]),
    });

    const rolesOf = () =>
      ofType("AWS::IAM::Role").map(
        ([id, { Properties }]) => [id, roleSchema.parse(Properties)] as const,
      );

    test("are these statements and no others", () => {
      const statements = Object.fromEntries(
        rolesOf().map(([id, role]) => [id, role.Policies[0].PolicyDocument.Statement]),
      );

      expect(statements).toEqual(STATEMENTS);
    });

    test("are assumed by the service of each role only", () => {
      const trust = Object.fromEntries(
        rolesOf().map(([id, role]) => [id, role.AssumeRolePolicyDocument.Statement]),
      );

      expect(trust).toEqual(TRUST);
    });

    test("come from roles, and from these resource policies", () => {
      const policies = all().filter(([, { Type }]) => /Polic|Permission/.test(Type));
      const properties = policies.map(([id, { Properties }]) => [id, Properties]);

      expect(Object.fromEntries(properties)).toEqual(RESOURCE_POLICIES);
    });

    test("belong to one role for each function", () => {
      for (const { id, role } of FUNCTIONS) {
        expect(resource(id).Properties.Role).toEqual(arn(role));
      }
    });
  });
};
