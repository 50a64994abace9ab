import { expect, test } from "vitest";
import { createClosing } from "../../../lib/local/closing.ts";

const broken = (name: string) => () => Promise.reject(new Error(name));

test("everything is closed once, the last opened first", async () => {
  const closed: string[] = [];
  const closing = createClosing();
  for (const name of ["store", "table"]) closing.add(async () => void closed.push(name));

  await closing.close();
  await closing.close();

  expect(closed).toEqual(["table", "store"]);
});

test("what cannot be closed keeps nothing else open, and its error is told", async () => {
  const closed: string[] = [];
  const closing = createClosing();
  closing.add(async () => void closed.push("store"));
  closing.add(broken("table"));

  await expect(closing.close()).rejects.toThrow(/^table$/);

  expect(closed).toEqual(["store"]);
});

test("of several that cannot be closed each is told", async () => {
  const closing = createClosing();
  closing.add(broken("store"));
  closing.add(broken("table"));

  await expect(closing.close()).rejects.toThrow(/table\n.*store/);
});
