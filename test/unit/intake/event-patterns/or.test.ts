import { expect, test } from "vitest";
import { isMatch, problemsOf } from "./pattern-of.ts";

const METRIC_OR_SPACE = {
  source: ["aws.cloudwatch"],
  $or: [{ metricName: ["CPUUtilization", "ReadLatency"] }, { namespace: ["AWS/EC2", "AWS/ES"] }],
};
const TWO_PLACES = {
  $or: [{ metricName: ["CPUUtilization"] }, { namespace: ["AWS/EC2"] }],
  detail: { $or: [{ source: ["aws.cloudwatch"] }, { "detail-type": ["Alarm"] }] },
};
const NESTED = {
  source: ["aws.cloudwatch"],
  $or: [
    { metricName: ["CPUUtilization"] },
    {
      metricType: ["MetricType"],
      namespace: ["AWS/EC2"],
      $or: [{ metricId: [1234] }, { spaceId: [1000] }],
    },
    { scope: ["Service"] },
  ],
};

test.each([
  [METRIC_OR_SPACE, { source: "aws.cloudwatch", metricName: "ReadLatency" }, true],
  [METRIC_OR_SPACE, { source: "aws.cloudwatch", namespace: "AWS/ES" }, true],
  [METRIC_OR_SPACE, { source: "aws.cloudwatch", metricName: "x", namespace: "AWS/ES" }, true],
  [METRIC_OR_SPACE, { source: "aws.cloudwatch" }, false],
  [METRIC_OR_SPACE, { source: "aws.ec2", namespace: "AWS/ES" }, false],
  [TWO_PLACES, { namespace: "AWS/EC2", detail: { "detail-type": "Alarm" } }, true],
  [TWO_PLACES, { namespace: "AWS/EC2", detail: { "detail-type": "x" } }, false],
  [TWO_PLACES, { detail: { source: "aws.cloudwatch" } }, false],
  [NESTED, { source: "aws.cloudwatch", scope: "Service" }, true],
  [
    NESTED,
    { source: "aws.cloudwatch", metricType: "MetricType", namespace: "AWS/EC2", spaceId: 1000 },
    true,
  ],
  [NESTED, { source: "aws.cloudwatch", metricType: "MetricType", namespace: "AWS/EC2" }, false],
  [NESTED, { source: "aws.cloudwatch", namespace: "AWS/EC2", metricId: 1234 }, false],
  [{ d: { $or: [{ a: [1], b: [2] }, { c: [3] }] } }, { d: [{ a: 1 }, { b: 2 }] }, false],
  [{ d: { a: [1], $or: [{ b: [2] }, { c: [3] }] } }, { d: [{ a: 1 }, { b: 2 }] }, false],
  [{ d: { a: [1], $or: [{ b: [2] }, { c: [3] }] } }, { d: [{ a: 1, c: 3 }, { b: 2 }] }, true],
  [{ $or: [{ a: [{ exists: false }] }, { a: ["x"] }] }, { a: "x" }, true],
  [{ $or: [{ a: [{ exists: false }] }, { a: ["x"] }] }, { a: "y" }, false],
])("by Ruler's README, %j on %j: %j", (pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test.each([
  [{ $or: ["x"] }, { $or: "x" }, true],
  [{ $or: [{ cidr: "10.0.0.0/24" }] }, { $or: "10.0.0.7" }, true],
  [{ $or: [{ numeric: [">", 0, "<=", 5] }, { prefix: "a" }] }, { $or: 3 }, true],
  [{ $or: [{ numeric: [">", 0, "<=", 5] }, { prefix: "a" }] }, { $or: "b" }, false],
  [{ $or: { metricType: ["MetricType"] } }, { $or: { metricType: "MetricType" } }, true],
  [{ $or: { metricType: ["MetricType"] } }, { metricType: "MetricType" }, false],
  [{ detail: { $or: ["x", { exists: false }] } }, { detail: {} }, true],
])(
  "$or that cannot be alternatives is a field, as by Ruler's README: %j on %j: %j",
  (pattern, event, expected) => {
    expect(isMatch(pattern, event)).toBe(expected);
  },
);

test.each([
  [{ $or: [] }, ["$or: must be a list of at least two objects"]],
  [{ $or: [{ a: [1] }] }, ["$or: must be a list of at least two objects"]],
  [{ $or: "x" }, ["$or: must be a list of at least two objects"]],
  [{ $or: [{ a: [1] }, "x"] }, ["$or.1: must be an object"]],
  [{ $or: [{ a: [1] }, {}] }, ["$or.1: must have at least one field"]],
  [{ $or: [{ a: [1] }, { b: [] }] }, ["$or.1.b: must have at least one value"]],
  [
    { $or: [{ a: [1] }, { prefix: ["x"] }] },
    ["$or.1.prefix: not allowed as the name of a field inside $or"],
  ],
  [
    { $or: [{ a: [1] }, { b: { regex: ["x"] } }] },
    ["$or.1.b.regex: not allowed as the name of a field inside $or"],
  ],
  [
    { a: { $or: [{ b: [1] }, { c: [{ exists: 1 }] }] } },
    ["a.$or.1.c.0.exists: must be true or false"],
  ],
])("%j is refused with the path", (pattern, problems) => {
  expect(problemsOf(pattern)).toEqual(problems);
});

test.each([
  [{ source: ["a"], $or: [{ source: ["b"] }, { x: [1] }] }, "$or"],
  [{ $or: [{ source: ["b"] }, { x: [1] }], source: ["a"] }, "source"],
  [{ d: { a: [1] }, "d.a": [2] }, "d.a"],
  [{ $or: [{ d: { a: [1] } }, { b: [2] }], d: { a: [1] } }, "d"],
])("a duplicate condition is refused, because EventBridge would drop one: %j", (pattern, path) => {
  expect(problemsOf(pattern)).toEqual([
    `${path}: has a field that another condition at this level has too`,
  ]);
});

const choices = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({ x: [index] }));

test("a thousand combinations of $or are accepted", () => {
  const pattern = { a: { $or: choices(40) }, b: { $or: choices(25) } };

  expect(problemsOf(pattern)).toEqual([]);
  expect(isMatch(pattern, { a: { x: 39 }, b: { x: 24 } })).toBe(true);
  expect(isMatch(pattern, { a: { x: 39 }, b: { x: 25 } })).toBe(false);
});

test("more than a thousand combinations of $or are refused", () => {
  const pattern = { a: { $or: choices(77) }, b: { $or: choices(13) } };

  expect(problemsOf(pattern)).toEqual([": must have at most 1000 combinations of $or"]);
});

test("a field outside $or may have the name of an operator", () => {
  expect(isMatch({ detail: { prefix: ["x"] } }, { detail: { prefix: "x" } })).toBe(true);
});
