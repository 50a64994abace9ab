import { getContainer, updateContainer } from "../../contract/containers.ts";
import type { Body, Params } from "../../contract/operation.ts";
import { conflict, locked } from "../errors.ts";
import { requireOwned } from "../locations.ts";
import { type Call, route } from "../routing.ts";
import type { ContainerRecord } from "../state/containers.ts";
import { namedKey } from "../state/state.ts";
import type { Work } from "../state/tasks.ts";
import { startTask, TaskFailure, type WorkContext } from "../task-engine.ts";

type ContainerUpdate = Body<typeof updateContainer>;
type ContainerParams = Params<typeof updateContainer>;
type ContainerWork = Extract<Work, { kind: "update-container" }>;

/** The provider's published defaults of the two nested objects. */
const DEFAULT_SCALE = { cooldown_period: 60, triggers: null };
const withDefaults = (logging: NonNullable<ContainerUpdate["logging"]>) => ({
  destination_region_id: logging.destination_region_id ?? null,
  enabled: logging.enabled ?? false,
  retention_policy: logging.retention_policy ?? null,
  topic_name: logging.topic_name ?? null,
});

/** The parameters that the task record shows, without variables and names of secrets. */
const toTaskData = (name: string, update: ContainerUpdate): Record<string, unknown> => {
  const { envs, pull_secret, ...shown } = update;
  return { container_name: name, ...shown };
};

const requireContainer = <Q, B>(call: Call<ContainerParams, Q, B>) => {
  const key = namedKey({ ...call.params, name: call.params.container_name });
  return requireOwned(call.records.get("containers", key), call, "container");
};

/** The published record without its location. It includes the lock, `task_id`, as other resources do. */
export const getContainerRoute = route(getContainer, (call) => {
  const { project_id, region_id, ...shown } = requireContainer(call);
  return shown;
});

/** Accepts the change and locks the container; its record changes when the task has finished. */
export const updateContainerRoute = route(updateContainer, (call) => {
  const { body, records } = call;
  const container = requireContainer(call);
  if (container.task_id !== null) throw conflict(locked("container", container.task_id));

  const taskId = startTask(call, {
    taskType: "patch_caas_container",
    data: toTaskData(container.name, body),
    work: { kind: "update-container", container_name: container.name, update: body },
  });
  records.put("containers", { ...container, task_id: taskId });
  return { tasks: [taskId] };
});

/** Status after an update. An enabled container is ready at once. */
const runningState = (isDisabled: boolean, scale: ContainerRecord["scale"]) =>
  isDisabled
    ? { status: "Disabled", deploy_status: { total: 0, ready: 0 } }
    : { status: "Ready", deploy_status: { total: scale.min, ready: scale.min } };

/** Applies an update: a null or absent field keeps its value, and the three objects are replaced as a whole. */
const applyUpdate = (container: ContainerRecord, update: ContainerUpdate): ContainerRecord => {
  const scale = update.scale ? { ...DEFAULT_SCALE, ...update.scale } : container.scale;
  const isDisabled = update.is_disabled ?? container.is_disabled;
  return {
    ...container,
    commands: update.commands ?? container.commands,
    description: update.description ?? container.description,
    envs: update.envs ?? container.envs,
    flavor: update.flavor ?? container.flavor,
    image: update.image ?? container.image,
    is_api_key_auth: update.is_api_key_auth ?? container.is_api_key_auth,
    is_disabled: isDisabled,
    listening_port: update.listening_port ?? container.listening_port,
    logging: update.logging ? withDefaults(update.logging) : container.logging,
    pull_secret: update.pull_secret ?? container.pull_secret,
    scale,
    timeout: update.timeout ?? container.timeout,
    ...runningState(isDisabled, scale),
  };
};

/** A registry under `.invalid`. Such a name never resolves (RFC 6761), so deploying from it always fails. */
const UNREACHABLE_REGISTRY = /^([a-z0-9.-]+\.)?invalid(:\d+)?\//i;

/** Reason why the new version cannot be deployed, if any. The service does not know which images exist. */
const findObstacle = ({ image }: ContainerUpdate): string | undefined =>
  image && UNREACHABLE_REGISTRY.test(image)
    ? `image ${image}: the registry cannot be reached`
    : undefined;

/** Work of `patch_caas_container`: applies the whole change or, if it cannot be deployed, nothing. */
export const finishContainerUpdate = (work: ContainerWork, context: WorkContext): null => {
  const { records, task } = context;
  const container = records.get("containers", namedKey({ ...task, name: work.container_name }));
  if (container === undefined) throw new TaskFailure("the container no longer exists");

  const obstacle = findObstacle(work.update);
  const next = obstacle === undefined ? applyUpdate(container, work.update) : container;
  records.put("containers", { ...next, task_id: null });
  if (obstacle !== undefined) throw new TaskFailure(obstacle);
  return null;
};
