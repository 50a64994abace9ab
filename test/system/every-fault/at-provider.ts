import * as z from "zod";
import type { Cloud } from "./cloud.ts";

const tasksReply = z.object({ tasks: z.array(z.string()) });

/** Ids of the background tasks in a reply. */
export const taskIdsIn = async (reply: Response): Promise<readonly string[]> =>
  tasksReply.parse(await reply.json()).tasks;

/** State of the updated container, once it is unlocked. */
export const containerDescription = async (cloud: Cloud): Promise<unknown> => {
  const containers = await cloud.records("containers");
  const { task_id, description } = containers.find(({ name }) => name === "my-container");
  return task_id ?? description;
};

export const WITH_ONE_TASK = ["CommandAccepted", "TaskFinished", "CommandSucceeded"];
