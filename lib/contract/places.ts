import type { Operation } from "./operation.ts";

/** Where an operation is answered. It may have more than one place. */
export interface Place extends Pick<Operation, "method" | "path" | "deprecated"> {}

/** The operation's own place, then its successor's and its other one, which do the same. */
export const placesOf = (operation: Operation): readonly Place[] => {
  const { method, path, otherPath, deprecated } = operation;
  const others = [deprecated?.successorPath, otherPath].filter((one) => one !== undefined);
  return [
    { method, path, ...(deprecated && { deprecated }) },
    ...others.map((other) => ({ method, path: other })),
  ];
};
