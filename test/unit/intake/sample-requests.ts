const PLACE = { project_id: 7, region_id: 1 };
const ID = "b39792c3-3160-4356-912e-ba396c95cdcf";

/** Valid requests that cover every kind of rule between fields. */
export const SAMPLE_REQUESTS = [
  { operation: "resume-instance", params: { ...PLACE, instance_id: "i" } },
  {
    operation: "resume-instance",
    params: { ...PLACE, instance_id: ID },
    query: { with_ddos: true },
  },
  { operation: "follow-task", params: { task_id: ID } },
  {
    operation: "update-container",
    params: { ...PLACE, container_name: "my-container" },
    body: {
      description: "d",
      scale: { min: 1, max: 2, triggers: { cpu: { threshold: 5 }, memory: null } },
      logging: { enabled: true, topic_name: "a.b", retention_policy: { period: 5 } },
    },
  },
  {
    operation: "update-policy",
    params: { ...PLACE, policy_id: 1 },
    query: { need_volumes: true },
    body: { name: "name", status: "paused" },
  },
  {
    operation: "remove-policy-volumes",
    params: { ...PLACE, policy_id: 1 },
    body: { volume_ids: [ID, "v"] },
  },
  {
    operation: "update-pool",
    params: { ...PLACE, pool_id: ID },
    body: {
      healthmonitor: { delay: 10, timeout: 5, max_retries: 2, type: "TCP", url_path: null },
      session_persistence: { type: "HTTP_COOKIE", cookie_name: "cookie" },
      members: [
        { address: "10.0.0.1", protocol_port: 80, subnet_id: ID },
        { address: "::1", protocol_port: 80, instance_id: ID, subnet_id: null },
      ],
    },
  },
  {
    operation: "create-router",
    params: PLACE,
    body: {
      name: "new_router",
      external_gateway_info: { type: "manual", network_id: ID },
      interfaces: [{ type: "subnet", subnet_id: ID }],
      routes: [{ destination: "10.0.0.0/8", nexthop: "10.0.0.1" }],
    },
  },
  {
    operation: "create-router",
    params: PLACE,
    body: { name: "new_router", external_gateway_info: { type: "default", enable_snat: true } },
  },
  {
    operation: "create-storage-event",
    query: { client_id: 5 },
    body: { name: "reaching_used_space", bytes: "18446744073709551615", bucket_name: "b" },
  },
  { operation: "update-storage-event", body: { name: "reaching_files_quantity", count: 5 } },
] as const;
