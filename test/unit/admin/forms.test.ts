import { describe, expect, it } from "vitest";
import {
  checkRequest,
  createForms,
  type FormField,
  formsSchema,
} from "../../../lib/admin/forms.ts";
import { OPERATION_EXAMPLES } from "../../../lib/contract/operation-examples.ts";
import { COMMANDED, COMMANDED_IDS } from "../../../lib/contract/operations.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { shared, updateContainer } from "../../support/requests.ts";

const SENDER = "111122223333";
const access = createAccess(shared(), SENDER);
const forms = createForms();

const formOf = (id: string) => {
  const form = forms.operations.find((each) => each.id === id);
  if (!form) throw new Error(`no form ${id}`);
  return form;
};

/** Follows names through objects, and `[]` into elements. */
const fieldAt = (fields: readonly FormField[] | undefined, path: string): FormField => {
  const [first, ...rest] = path.split(".");
  const found = fields?.find(({ name }) => name === first?.replace("[]", ""));
  if (!found) throw new Error(`no field ${first}`);
  const field = first?.endsWith("[]") ? found.item : found;
  if (!field) throw new Error(`${first} has no elements`);
  return rest.length === 0 ? field : fieldAt(field.fields, rest.join("."));
};

describe("the forms", () => {
  it("cover every operation that a command may name, in order", () => {
    expect(forms.operations.map(({ id }) => id)).toEqual([...COMMANDED_IDS]);
  });

  it("are JSON of their schema", () => {
    expect(formsSchema.parse(JSON.parse(JSON.stringify(forms)))).toEqual(forms);
  });

  it("have every field that the schema of the request has, and no other", () => {
    for (const { id, params, query, body } of COMMANDED) {
      const form = formOf(id);
      expect(form.params.map(({ name }) => name)).toEqual(Object.keys(params.shape));
      expect(form.query.map(({ name }) => name)).toEqual(Object.keys(query.shape));
      const bodyNames = "shape" in body ? Object.keys(body.shape) : undefined;
      expect(form.body?.map(({ name }) => name)).toEqual(bodyNames);
    }
  });

  it("show type, limits, description, example and null of a field", () => {
    expect(fieldAt(formOf("update-container").body, "scale.cooldown_period")).toEqual({
      name: "cooldown_period",
      required: false,
      nullable: true,
      secret: false,
      control: "integer",
      rule: "whole number 1 to 3600, or null",
      type: "number",
      description: "seconds",
      example: 60,
    });
  });

  it("name a cross-field rule at its field", () => {
    expect(fieldAt(formOf("update-container").body, "scale.min").rule).toBe(
      "whole number 0 to 25; must not exceed max",
    );
  });

  it.each([
    ["update-container", "scale.triggers.http.rate", { control: "integer", required: true }],
    ["update-container", "envs", { control: "map", secret: true, nullable: true }],
    ["update-container", "pull_secret", { control: "text", secret: true }],
    ["update-container", "is_disabled", { control: "boolean", nullable: true }],
    ["update-policy", "status", { control: "choice", options: ["active", "paused"] }],
    ["update-pool", "members[].weight", { control: "integer" }],
    ["update-pool", "members[].address", { control: "text", rule: "an IPv4 or IPv6 address" }],
    ["remove-policy-volumes", "volume_ids[]", { control: "text" }],
    ["create-router", "interfaces[].type", { control: "choice", options: ["subnet"] }],
    ["create-storage-event", "bytes", { control: "uint64", type: "number" }],
  ])("give %s %s its control", (id, path, expected) => {
    expect(fieldAt(formOf(id).body, path)).toMatchObject(expected);
  });

  it("mark the values of a secret map as secret", () => {
    expect(fieldAt(formOf("update-container").body, "envs[]").secret).toBe(true);
  });

  it("have the fields of every command", () => {
    expect(forms.common.map(({ name, control }) => [name, control])).toEqual([
      ["account", "text"],
      ["deadline", "text"],
      ["after", "list"],
      ["guards", "list"],
      ["commandId", "text"],
    ]);
    expect(fieldAt(forms.common, "guards[].network.network_id").required).toBe(true);
    expect(fieldAt(forms.common, "guards[].exists").options).toEqual([true]);
  });

  it.each(COMMANDED_IDS)("give %s an example that intake accepts", (operation) => {
    const detail = { metadata: {}, data: { operation, ...OPERATION_EXAMPLES[operation] } };

    expect(checkRequest(detail, { sender: SENDER, access })).toEqual({ problems: [] });
  });
});

describe("the check of a request", () => {
  const check = (detail: unknown) => checkRequest(detail, { sender: SENDER, access }).problems;

  it("names every wrong field without its value", () => {
    const detail = updateContainer("c", {
      listening_port: 70_000,
      scale: { min: 5, max: 1 },
      envs: { TOKEN: 7 },
    });

    const problems = check(detail);

    expect(problems.map(({ path }) => path)).toEqual([
      "body.envs.TOKEN",
      "body.listening_port",
      "body.scale.min",
    ]);
    expect(JSON.stringify(problems)).not.toContain("70000");
  });

  it("reports an account without rights", () => {
    expect(check(updateContainer("c", {}, { account: "other" }))).toEqual([
      { path: "", rule: expect.stringContaining("the sender has no right to this request") },
    ]);
  });

  it("reports a deadline that is no time, and a guard with two tests", () => {
    const network = {
      project_id: 1,
      region_id: 2,
      network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
    };
    const guards = [{ network, key: "paid", exists: true, absent: true }];

    const problems = check(updateContainer("c", {}, { deadline: "soon", guards }));

    expect(problems.map(({ path }) => path)).toEqual(["deadline", "guards.0"]);
  });
});
