import { expect, test } from "vitest";
import { INSTANCE_STATUSES, resumeInstance, VM_STATES } from "../../../lib/contract/instances.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const instance = {
  id: "a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9",
  name: "web",
  instance_description: "",
  project_id: 1,
  region: "Luxembourg",
  region_id: 2,
  created_at: "2023-11-29T10:56:49Z",
  creator_task_id: "d1e1500b-e2be-40aa-9a4b-cc493fa1af30",
  addresses: { net1: [{ addr: "10.0.0.17", type: "fixed" }] },
  blackhole_ports: [{ AlarmState: "ALARM_FAIL" }],
  ddos_profile: null,
  fixed_ip_assignments: [{ external: false, ip_address: "10.0.0.17", subnet_id: "s" }],
  flavor: { flavor_id: "g1", flavor_name: "g1", vcpus: 1 },
  instance_isolation: { reason: null },
  security_groups: [{ name: "default" }],
  ssh_key_name: "key",
  status: "ACTIVE",
  tags: [{ key: "env", read_only: false, value: "prod" }],
  task_id: null,
  task_state: "",
  vm_state: "active",
  volumes: [{ delete_on_termination: false, id: "v" }],
};
const read = (reply: unknown) => received(resumeInstance.response, JSON.stringify(reply));

test("the reply in the document, a list of instances, parses", () => {
  const reply = { count: 1, results: [instance] };

  expect(read(reply)).toEqual(reply);
});

test("the reply of newer servers, one instance without a list, parses", () => {
  expect(read(instance)).toEqual(instance);
});

test("the nulls of newer servers parse", () => {
  const reply = {
    ...instance,
    instance_description: null,
    creator_task_id: null,
    fixed_ip_assignments: null,
    instance_isolation: null,
    ssh_key_name: null,
    task_state: null,
  };

  expect(read(reply)).toEqual(reply);
});

test("the problems of an invalid reply are those of the closest variant", () => {
  expect(read({ count: -1, results: [instance] })).toEqual(["count: at least 0"]);
  expect(read({ count: 1, results: [{ ...instance, id: 5 }] })).toEqual(["results.0.id: a string"]);
  expect(read({ ...instance, id: 5, name: null, volumes: {} })).toEqual([
    "id: a string",
    "name: a string, not null",
    "volumes: a list",
  ]);
  expect(read({ message: "resumed" })).toEqual(["count: required", "results: required"]);
  expect(read([])).toEqual([": an object"]);
});

test("resume-instance takes no body, and only with_ddos as query", () => {
  expect(bothWays(resumeInstance.query, {})).toEqual(accepted({}));
  expect(bothWays(resumeInstance.query, { with_ddos: true })).toEqual(
    accepted({ with_ddos: true }),
  );
  expect(bothWays(resumeInstance.query, { with_ports: true })).toEqual(
    refused("with_ports: unknown field"),
  );
  expect(bothWays(resumeInstance.body, {})).toEqual(refused(": this operation takes no body"));
  expect(bothWays(resumeInstance.body, null)).toEqual(refused(": this operation takes no body"));
});

test.each([
  [".", "instance_id: must not be . or .."],
  ["..", "instance_id: must not be . or .."],
  ["", "instance_id: must not be empty"],
])("the instance id %j is refused", (instance_id, problem) => {
  const params = { project_id: 1, region_id: 2, instance_id };

  expect(bothWays(resumeInstance.params, params)).toEqual(refused(problem));
});

test("the states are those of the document", () => {
  expect(INSTANCE_STATUSES.join(" ")).toBe(
    "ACTIVE BUILD DELETED ERROR HARD_REBOOT MIGRATING PASSWORD PAUSED REBOOT REBUILD RESCUE RESIZE REVERT_RESIZE SHELVED SHELVED_OFFLOADED SHUTOFF SOFT_DELETED SUSPENDED UNKNOWN VERIFY_RESIZE",
  );
  expect(VM_STATES.join(" ")).toBe(
    "active building deleted error paused rescued resized shelved shelved_offloaded soft-deleted stopped suspended",
  );
});
