import { describe, expect, test } from "vitest";
import { instanceSchema } from "../../../lib/contract/instances.ts";
import { problemsOf } from "../../../lib/contract/problem.ts";
import type { InstanceRecord } from "../../../lib/service/state/instances.ts";
import { builtInState, type State, stateSchema } from "../../../lib/service/state/state.ts";

type Profile = NonNullable<InstanceRecord["ddos_profile"]>;

const builtIn = builtInState();
const instance = builtIn.instances[0]!;
const profile = instance.ddos_profile!;
const template = profile.profile_template!;

/** Problems of a state by path. */
const problemsIn = (state: object): string[] =>
  problemsOf(stateSchema.safeParse({ ...builtIn, ...state }).error?.issues ?? []).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );

const withProfile = (change: object): object => ({
  instances: [{ ...instance, ddos_profile: { ...profile, ...change } }],
});
const withField = (change: object) =>
  withProfile({ fields: [profile.fields[0], { ...profile.fields[0], ...change }] });
const withTemplate = (change: object) =>
  withProfile({ profile_template: { ...template, ...change } });
const withTemplateField = (change: object) =>
  withTemplate({ fields: [{ ...template.fields[0], ...change }] });

const PROFILE = "instances.0.ddos_profile";
const LIMITS: [string, number, string, (text: string) => object][] = [
  ["the name of a configured field", 30, "fields.1.name", (name) => withField({ name })],
  [
    "the description of a configured field",
    255,
    "fields.1.description",
    (description) => withField({ description }),
  ],
  [
    "the name of a template field",
    30,
    "profile_template.fields.0.name",
    (name) => withTemplateField({ name }),
  ],
  [
    "the description of a template field",
    255,
    "profile_template.fields.0.description",
    (description) => withTemplateField({ description }),
  ],
  ["the name of the template", 100, "profile_template.name", (name) => withTemplate({ name })],
  ["the site", 50, "site", (site) => withProfile({ site })],
  [
    "the status",
    30,
    "status.status",
    (status) => withProfile({ status: { status, error_description: null } }),
  ],
];

describe.each(LIMITS)("%s of a seed", (_, limit, path, withText) => {
  test(`may have ${limit} Unicode characters`, () => {
    expect(problemsIn(withText("x".repeat(limit)))).toEqual([]);
    expect(problemsIn(withText("😀".repeat(limit)))).toEqual([]);
  });

  test(`must not have ${limit + 1} Unicode characters`, () => {
    const problem = `${PROFILE}.${path}: at most ${limit} characters`;

    expect(problemsIn(withText("x".repeat(limit + 1)))).toEqual([problem]);
    expect(problemsIn(withText("😀".repeat(limit + 1)))).toEqual([problem]);
  });
});

test("the status of a profile has at least three characters", () => {
  const withStatus = (status: string) => withProfile({ status: { status, error_description: "" } });

  expect(problemsIn(withStatus("Bad"))).toEqual([]);
  expect(problemsIn(withStatus("OK"))).toEqual([`${PROFILE}.status.status: at least 3 characters`]);
});

test.each<[string, object]>([
  ["a value", { value: "7777", field_value: null }],
  ["a value alone", { value: "7777", field_value: undefined }],
  ["a value that is false", { value: false, field_value: null }],
  ["a value that is zero", { value: 0, field_value: undefined }],
  ["a value that is empty", { value: "", field_value: null }],
  ["a field_value", { value: null, field_value: [7777, 7778] }],
  ["a field_value alone", { value: undefined, field_value: 0 }],
  ["an empty field_value", { value: null, field_value: [] }],
])("a configured field may have %s", (_, change) => {
  expect(problemsIn(withField(change))).toEqual([]);
});

test.each<[string, object]>([
  ["both a value and a field_value", { value: "7777", field_value: [7777] }],
  ["both, each of them empty", { value: "", field_value: 0 }],
  ["null for both", { value: null, field_value: null }],
  ["neither", { value: undefined, field_value: undefined }],
  ["null for one and not the other", { value: null, field_value: undefined }],
])("a configured field must not have %s", (_, change) => {
  expect(problemsIn(withField(change))).toEqual([
    `${PROFILE}.fields.1.value: give exactly one of value and field_value`,
  ]);
});

test("nullable parts of a profile may be null, and a field has one of the provider's types", () => {
  const empty = { profile_template: null, profile_template_description: null, protocols: null };

  expect(problemsIn(withProfile({ ...empty, site: null, status: null, fields: [] }))).toEqual([]);
  for (const field_type of ["int", "bool", "str", null]) {
    expect(problemsIn(withField({ field_type, description: null, required: null }))).toEqual([]);
  }
  expect(problemsIn(withField({ field_type: "list" }))).toEqual([
    `${PROFILE}.fields.1.field_type: one of int, bool, str`,
  ]);
});

const tagged = (tag: object): [string, Partial<Record<keyof State, unknown>>][] => [
  ["instances.0", { instances: [{ ...instance, tags: [tag] }] }],
  ["networks.0", { networks: [{ ...builtIn.networks[0], tags: [tag] }] }],
  ["floating_ips.0", { floating_ips: [{ ...builtIn.floating_ips[0], tags: [tag] }] }],
];

test.each<[string, string, object]>([
  ["", "of 255 characters", { key: "k".repeat(255), value: "v".repeat(255), read_only: true }],
  ["", "of 255 emoji", { key: "😀".repeat(255), value: "😀".repeat(255), read_only: true }],
  ["", "without a value", { key: "k", value: "", read_only: false }],
  ["key: at most 255 characters", "", { key: "k".repeat(256), value: "", read_only: false }],
  ["value: at most 255 characters", "", { key: "k", value: "v".repeat(256), read_only: false }],
  ["value: at most 255 characters", "", { key: "k", value: "😀".repeat(256), read_only: false }],
  ["key: must not be empty", "", { key: "", value: "v", read_only: false }],
])("every tag of a seed is checked: %s%s", (problem, _, tag) => {
  for (const [place, state] of tagged(tag)) {
    expect(problemsIn(state)).toEqual(problem === "" ? [] : [`${place}.tags.0.${problem}`]);
  }
});

test("a client accepts a reply of the provider that breaks these limits", () => {
  const long = "x".repeat(256);
  const field = { ...profile.fields[0]!, name: long, description: long, value: 1, field_value: 2 };
  const loose: Profile = {
    ...profile,
    site: long,
    fields: [field],
    profile_template: { ...template, name: long },
  };
  const answered = {
    ...instance,
    ddos_profile: loose,
    tags: [{ key: long, value: long, read_only: false }],
  };

  expect(instanceSchema().parse(answered)).toEqual(answered);
});
