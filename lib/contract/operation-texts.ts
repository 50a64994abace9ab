import type { OPERATIONS } from "./operations.ts";

type OperationId = (typeof OPERATIONS)[number]["id"];

/** Description of each operation in the OpenAPI document. Kept out of the declarations, which functions bundle. */
export const OPERATION_TEXTS: Readonly<Record<OperationId, string>> = {
  "update-container":
    "Changes the given fields in a background task, which locks the container. A field that is null or absent keeps its value.",
  "resume-instance": "Sets a suspended instance to active and returns it.",
  "remove-policy-volumes": "Removes volumes from the policy and returns the policy.",
  "update-policy": "Changes the name or status of the policy and returns the policy.",
  "update-pool":
    "Changes the given fields in a background task, which locks the pool. An absent field keeps its value, null clears it, and nested objects are replaced as a whole. No task starts when nothing changes.",
  "update-storage-event":
    "Replaces the limit of the event. The client, name, storage_name and bucket_name identify the event; a body without a limit removes the limit.",
  "create-router":
    "Creates the router in a background task, whose created_resources contain the router's id.",
  "create-storage-event":
    "Creates the event and returns it with its uuid. An event with the same client, name, storage_name and bucket_name is a conflict.",
  "list-ai-tasks": "Lists the AI tasks of the key's client, a page at a time.",
  "preview-instance-price":
    "Calculates the price of instances before they are created. Changes nothing.",
  "get-k8s-cluster-price":
    "Returns the price of each part of the cluster, with discount and tax, and their total.",
  "get-ddos-price":
    "Returns the price of DDoS protection in the region and the days left in the month.",
  "get-gpu-cluster-price":
    "Returns one price for the whole server: flavor, volumes and public addresses, with discount and tax.",
  "get-floating-ip-tag": "Returns the tag with the given key.",
  "get-network-tag":
    "Returns the tag with the given key. Every project of the region can read its external networks.",
  "get-task": "Returns a task. Poll it until its state is FINISHED or ERROR.",
  "list-tasks": "Lists the tasks of the key's projects, newest first by default.",
  "get-container": "Returns the container, including its environment variables.",
  "get-instance": "Returns the instance.",
  "get-policy": "Returns the policy and its schedules.",
  "get-pool": "Returns the pool with its members and health monitor.",
  "get-router": "Returns the router with its interfaces, routes and gateway.",
  "list-storage-events": "Lists the events of the key's client, grouped by name.",
  "list-storage-event-types": "Lists the event names and the fields of each.",
  "delete-storage-event":
    "Deletes the event. The client, name, storage_name and bucket_name identify it; a limit in the body is ignored.",
};
