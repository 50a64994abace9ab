import type { PoolRecord } from "../state/state.ts";
import { PROJECT_A, PROJECT_B, SUBNET_OF_ROUTER } from "./places.ts";

const pool = (
  own: Pick<PoolRecord, "id" | "name" | "project_id" | "region_id" | "members">,
): PoolRecord => ({
  ...own,
  lb_algorithm: "ROUND_ROBIN",
  protocol: "HTTP",
  admin_state_up: true,
  listeners: [{ id: "d0c1b2a3-9485-4766-8574-63524130291f" }],
  loadbalancers: [{ id: "a1b2c3d4-e5f6-4071-8293-a4b5c6d7e8f9" }],
  healthmonitor: null,
  session_persistence: null,
  ca_secret_id: null,
  crl_secret_id: null,
  secret_id: null,
  timeout_client_data: 50000,
  timeout_member_connect: 50000,
  timeout_member_data: 50000,
  creator_task_id: null,
  task_id: null,
  operating_status: "ONLINE",
  provisioning_status: "ACTIVE",
});

export const builtInPools = (): PoolRecord[] => [
  pool({
    id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f",
    name: "my_pool",
    ...PROJECT_A,
    members: [
      {
        id: "a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9",
        address: "192.168.40.33",
        protocol_port: 80,
        subnet_id: SUBNET_OF_ROUTER,
        instance_id: null,
        weight: 1,
        monitor_address: null,
        monitor_port: null,
        backup: false,
        admin_state_up: true,
        operating_status: "NO_MONITOR",
        provisioning_status: "ACTIVE",
      },
    ],
  }),
  pool({
    id: "9fccf0a3-c0de-441d-9afd-2b9b58b08ba0",
    name: "my_other_pool",
    ...PROJECT_B,
    members: [],
  }),
];
