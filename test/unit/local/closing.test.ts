import { expect, test } from "vitest";
import { createClosing } from "../../../lib/local/closing.ts";

const broken = (name: string) => () => Promise.reject(new Error(name));

test("each resource is closed once, the last opened first", async () => {
  const closed: string[] = [];
  const closing = createClosing();
  for (const name of ["store", "table"]) closing.add(async () => void closed.push(name));

  await closing.close();
  await closing.close();

  expect(closed).toEqual(["table", "store"]);
});

test("a failed close does not stop the others, and its error is thrown", async () => {
  const closed: string[] = [];
  const closing = createClosing();
  closing.add(async () => void closed.push("store"));
  closing.add(broken("table"));

  await expect(closing.close()).rejects.toThrow(/^table$/);

  expect(closed).toEqual(["store"]);
});

test("the error names each of several resources that fail to close", async () => {
  const closing = createClosing();
  closing.add(broken("store"));
  closing.add(broken("table"));

  await expect(closing.close()).rejects.toThrow(/table\n.*store/);
});
