import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../../lib/contract/operations.ts";
import { FAULT_KINDS, type FaultRule, faultRuleSchema } from "../../../lib/service/fault-rules.ts";
import { FaultTextError, faultText, parseFault } from "../../../lib/service/fault-text.ts";

const problemOf = (text: string): string => {
  try {
    parseFault(text);
  } catch (error) {
    if (error instanceof FaultTextError) return error.message;
    throw error;
  }
  throw new Error(`${text} was accepted`);
};

describe("the text of a fault rule", () => {
  it.each<[string, Partial<FaultRule>]>([
    ["update-pool=lost-reply-after:0.2", { kind: "lost-reply-after", probability: 0.2 }],
    ["update-pool=lost-reply-after:.2", { probability: 0.2 }],
    ["update-pool=lost-reply-after:20%", { probability: 0.2 }],
    ["update-pool=lost-reply-after:100%", { probability: 1 }],
    ["update-pool=lost-reply-before:3x", { kind: "lost-reply-before", times: 3 }],
    ["*=truncated", { operation: "*", kind: "truncated" }],
    ["get-pool=unexpected-body", { operation: "get-pool", kind: "unexpected-body" }],
    [
      "update-pool=status",
      { kind: "status", code: 500, body: "documented", when: "before-effect" },
    ],
    [
      "update-pool=status:2x,code=504,body=html,when=after-effect",
      { times: 2, code: 504, body: "html", when: "after-effect" },
    ],
    ["update-pool=throttled", { kind: "throttled", retryAfter: "1s" }],
    ["update-pool=throttled,retry-after=130s", { retryAfter: "130s" }],
    ["update-pool=reset,when=after-effect", { kind: "reset", when: "after-effect" }],
    ["update-pool=slow,delay=200ms..2s", { kind: "slow", delay: "200ms..2s" }],
    [" update-pool=slow:1x,delay=0.5s ", { times: 1, delay: "0.5s" }],
  ])("%s is read", (text, expected) => {
    expect(parseFault(text)).toMatchObject({ operation: "update-pool", ...expected });
  });

  it.each([
    ["", /^expected OPERATION=KIND\[:HOW-OFTEN\]\[,DETAIL=VALUE\], such as update-pool=/],
    ["reset", /^expected OPERATION=KIND/],
    ["=reset", /^expected OPERATION=KIND/],
    ["update-pool=", /^expected OPERATION=KIND/],
    ["foo=reset", /^unknown operation "foo"; `npx skyhook operations` lists all \(/],
    ["update-pol=reset", /^unknown operation "update-pol"; did you mean update-pool\?/],
    ["list-taks=reset", /did you mean list-tasks\? \(\* means all operations\)$/],
    ["update-pool=lost-reply", /^unknown kind "lost-reply"; kinds: status, throttled, .*truncated/],
    ["update-pool=:3x", /^unknown kind ""; kinds: /],
    [
      "update-pool=reset:",
      /^"" after the colon is not how often: a count such as 3x .*; details come after a comma$/,
    ],
    ["update-pool=reset:often", /^"often" after the colon is not how often: a count such as 3x/],
    ["update-pool=slow:delay=2s", /^"delay=2s" after .*; details come after a comma$/],
    ["update-pool=reset:1", /^"1" could be a count or a probability: write 3x for the next 3/],
    ["update-pool=reset:20", /^"20" could be a count or a probability: .* or 20% for a share/],
    ["update-pool=reset:0x", /^times: at least 1$/],
    ["update-pool=reset:1000001x", /^times: at most 1000000$/],
    ["update-pool=reset:0%", /^probability: above 0 and at most 1$/],
    ["update-pool=reset:101%", /^probability: above 0 and at most 1$/],
    ["update-pool=reset:0.0", /^probability: above 0 and at most 1$/],
    ["update-pool=reset:1.5", /^probability: above 0 and at most 1$/],
    ["update-pool=reset:20%,", /^unknown detail ""; details of reset: when=…$/],
    ["update-pool=truncated,delay=1s", /^unknown detail "delay=1s"; truncated takes no details$/],
    ["update-pool=status,status=503", /details of status: code=…, body=…, when=…$/],
    ["update-pool=status,code=200", /^code: at least 400$/],
    ["update-pool=status,code=600", /^code: at most 599$/],
    ["update-pool=status,code=x", /^code: a number$/],
    ["update-pool=status,code=500,code=501", /^code is given twice$/],
    ["update-pool=status,body=xml", /^body: one of documented, html$/],
    ["update-pool=reset,when=before", /^when: one of before-effect, after-effect$/],
    [
      "update-pool=slow",
      /^delay: required: a duration such as 2s, or a range such as 200ms\.\.2s$/,
    ],
    [
      "update-pool=slow,delay=2",
      /^delay: a duration with its unit such as 200ms or 2s, or a range/,
    ],
    ["update-pool=slow,delay=2s..1s", /^delay: a range begins with its shorter duration$/],
    ["update-pool=slow,delay=601s", /^delay: at most 600s$/],
    ["update-pool=throttled,retry-after=7", /^retry-after: whole seconds such as 7s$/],
    ["update-pool=throttled,retry-after=86401s", /^retry-after: at most 86400s$/],
  ])("%s is refused with what to do", (text, problem) => {
    expect(problemOf(text)).toMatch(problem);
  });

  it("quotes only the beginning of a long mistake", () => {
    expect(problemOf(`${"x".repeat(10_000)}=reset`).length).toBeLessThan(200);
    expect(problemOf(`update-pool=${"x".repeat(10_000)}`).length).toBeLessThan(300);
    expect(problemOf(`update-pool=reset,${"x".repeat(10_000)}`).length).toBeLessThan(200);
  });

  it("is what faultText writes, for every rule", () => {
    const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
    const rules = fc
      .record(
        {
          operation: oneOf("*", ...OPERATIONS.map(({ id }) => id)),
          often: fc.oneof(
            fc.record({ times: fc.integer({ min: 1, max: 1_000_000 }) }),
            fc.integer({ min: 1, max: 10_000 }).map((n) => ({ probability: n / 10_000 })),
            fc.constant({}),
          ),
          details: fc.oneof(
            fc.record({
              kind: fc.constant("status"),
              code: fc.integer({ min: 400, max: 599 }),
              body: oneOf("documented", "html"),
              when: oneOf("before-effect", "after-effect"),
            }),
            fc.record({
              kind: fc.constant("slow"),
              delay: fc.nat(600_000).map((ms) => `${ms}ms`),
              when: oneOf("before-effect", "after-effect"),
            }),
            fc.record({
              kind: fc.constant("throttled"),
              retryAfter: fc.nat(86_400).map((seconds) => `${seconds}s`),
            }),
            fc.record({ kind: oneOf("truncated", "lost-reply-after", "unexpected-body") }),
          ),
        },
        { noNullPrototype: true },
      )
      .map(({ operation, often, details }) =>
        faultRuleSchema.parse({ operation, ...often, ...details }),
      );

    fc.assert(
      fc.property(rules, (rule) => {
        expect(parseFault(faultText(rule))).toEqual(rule);
      }),
    );
  });
});

describe("a fault rule as JSON", () => {
  it("has eight kinds, and its defaults", () => {
    expect(FAULT_KINDS).toHaveLength(8);
    expect(faultRuleSchema.parse({ operation: "get-task", kind: "status" })).toEqual({
      operation: "get-task",
      kind: "status",
      code: 500,
      body: "documented",
      when: "before-effect",
    });
  });

  it.each([
    [{ kind: "reset" }, "operation"],
    [{ operation: "get-task" }, "kind"],
    [{ operation: "get-task", kind: "reset", delay: "1s" }, "delay"],
    [{ operation: "get-task", kind: "reset", times: 1, probability: 0.5 }, "probability"],
    [{ operation: "get-task", kind: "reset", times: 1.5 }, "times"],
  ])("%j is refused at %s", (rule, path) => {
    const { error } = faultRuleSchema.safeParse(rule);

    expect(JSON.stringify(error?.issues)).toContain(`"${path}"`);
  });
});
