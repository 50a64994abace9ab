import * as z from "zod";
import type { Resource, Template } from "./packaged-service.ts";

/** The template's reference to the ARN of a resource. */
export const arn = (logicalId: string) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

export const OWN_ACCOUNT = { Ref: "AWS::AccountId" };

const functionSchema = z.object({
  Timeout: z.number(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

export interface TemplateReader {
  /** @throws Error if the template has no such resource */
  resource(id: string): Resource;
  /** Every resource with its logical id, in the template's order. */
  all(): readonly (readonly [id: string, resource: Resource])[];
  ofType(type: string): readonly (readonly [id: string, resource: Resource])[];
  functionOf(id: string): {
    readonly timeoutMs: number;
    readonly variables: Readonly<Record<string, unknown>>;
  };
}

/** @param template called for every read, because the template exists only when the tests run */
export const createTemplateReader = (template: () => Template): TemplateReader => {
  const resource = (id: string): Resource => {
    const found = template().resources[id];
    if (found === undefined) throw new Error(`no resource ${id} in the template`);
    return found;
  };
  const all = () => Object.entries(template().resources);
  return {
    resource,
    all,
    ofType: (type) => all().filter(([, { Type }]) => Type === type),
    functionOf(id) {
      const { Timeout, Environment } = functionSchema.parse(resource(id).Properties);
      return { timeoutMs: Timeout * 1000, variables: Environment.Variables };
    },
  };
};
