import type { Operation } from "./operation.ts";
import { getTask, PUBLISHED_TASK_PATH } from "./tasks.ts";

/** Where an operation is answered. It may have more than one place. */
export interface Place {
  readonly method: Operation["method"];
  /** `{name}` stands for a path parameter. */
  readonly path: string;
  /** Path of the successor when this place is deprecated. */
  readonly successorPath?: string;
}

/** Path of what takes the place of a deprecated operation; the method is the same. */
const successorPathOf = (operation: Operation): string | undefined =>
  operation.kind === "mutation" ? operation.deprecated?.successor.split(" ")[1] : undefined;

/**
 * The operation's own place; for a deprecated one also its successor's, which does the same; for a
 * task both ways in which the document and the published specification write its path.
 */
export const placesOf = (operation: Operation): readonly Place[] => {
  const { method, path } = operation;
  if (operation.id === getTask.id)
    return [
      { method, path },
      { method, path: PUBLISHED_TASK_PATH },
    ];
  const successorPath = successorPathOf(operation);
  return successorPath === undefined
    ? [{ method, path }]
    : [
        { method, path, successorPath },
        { method, path: successorPath },
      ];
};
