import * as z from "zod";
import { lazy } from "../contract/lazy.ts";

/** Maximum length of a sort key in DynamoDB, bytes. */
const MAX_SORT_BYTES = 1_024;

/** The cursor of a page that ended at a `sort`. Encoded, because an id may hold any character. */
export const cursorOf = (sort: string): string => Buffer.from(sort).toString("base64url");

export const sortOf = (cursor: string): string => Buffer.from(cursor, "base64url").toString();

const isCursor = (cursor: string): boolean => {
  const sort = sortOf(cursor);
  const [, time] = /^(.{24})[#~]/s.exec(sort) ?? [];
  const fits = time !== undefined && Buffer.byteLength(sort) <= MAX_SORT_BYTES;
  return fits && z.iso.datetime({ precision: 3 }).safeParse(time).success;
};

/** Cursor of the previous page of a list, in a query. */
export const cursorSchema = lazy(() =>
  z.string().refine(isCursor, { error: "must be the cursor that an earlier page ended with" }),
);
