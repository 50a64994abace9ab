import { expect, test } from "vitest";
import { openTarget, place, refusedFields } from "./target.ts";

const { call, runTask, one } = await openTarget();
const container = one("containers", ({ task_id }) => task_id === null);
const PATH = `/cloud/v1/caas/${place(container)}/containers/${encodeURIComponent(container.name)}`;

test.each([
  [
    "the upper limits",
    {
      description: "d".repeat(255),
      image: "i".repeat(230),
      listening_port: 65_535,
      timeout: 180,
    },
  ],
  [
    "one below the upper limits",
    {
      description: "d".repeat(254),
      image: "i".repeat(229),
      listening_port: 65_534,
      timeout: 179,
    },
  ],
  ["the lower limits", { description: "", listening_port: 1, timeout: 0 }],
  ["one above the lower limits", { description: "d", listening_port: 2, timeout: 1 }],
  [
    "255 and 230 characters, counted as people count them",
    { description: "😀".repeat(255), image: "é".repeat(230) },
  ],
])("values at %s are taken as they are", async (_, values) => {
  const task = await runTask("PATCH", PATH, values);

  expect(task.state).toBe("FINISHED");
  expect((await call("GET", PATH)).body).toMatchObject(values);
});

test.each([
  ["description", "of 256 characters", "d".repeat(256)],
  ["description", "of 256 emoji", "😀".repeat(256)],
  ["image", "of 231 characters", "i".repeat(231)],
  ["listening_port", "0", 0],
  ["listening_port", "65536", 65_536],
  ["timeout", "-1", -1],
  ["timeout", "181", 181],
])("a %s %s is one too far: refused, and nothing changes", async (field, _, value) => {
  const before = (await call("GET", PATH)).body;

  const refused = await call("PATCH", PATH, { body: { [field]: value } });

  expect(refusedFields(refused)).toEqual([field]);
  expect((await call("GET", PATH)).body).toEqual(before);
});
