import { expect, test } from "vitest";
import { POOL, startService } from "./harness.ts";

const MEMBER = {
  address: "192.168.40.33",
  protocol_port: 80,
  subnet_id: "32283b0b-b560-4690-810c-f672cbb2e28d",
};
const MEMBER_ID = "a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9";

test("members equal by address and port keep their id, others get a new one, the rest goes", async () => {
  const { send, runTask } = await startService();

  const task = await runTask("PATCH", POOL, {
    members: [
      { address: "192.168.40.34", protocol_port: 80, id: MEMBER_ID },
      { ...MEMBER, weight: 7, operating_status: "OFFLINE" },
    ],
  });

  const { members } = (await send("GET", POOL)).body;
  expect(members).toMatchObject([
    { address: "192.168.40.34", weight: 1, operating_status: "NO_MONITOR" },
    { address: "192.168.40.33", weight: 7, operating_status: "NO_MONITOR", id: MEMBER_ID },
  ]);
  expect(members[0].id).not.toBe(MEMBER_ID);
  expect(task.created_resources).toEqual({ members: [members[0].id] });
});

test("an IPv6 address is the same member however it is written", async () => {
  const { send, runTask } = await startService();
  const withAddress = (address: string) => ({ members: [{ address, protocol_port: 80 }] });
  await runTask("PATCH", POOL, withAddress("2001:db8::1"));
  const before = (await send("GET", POOL)).body;

  const equal = await send("PATCH", POOL, { body: withAddress("2001:0DB8:0:0:0:0:0:1") });
  const twice = await send("PATCH", POOL, {
    body: {
      members: ["2001:db8::1", "2001:db8:0::1"].flatMap((a) => withAddress(a).members),
    },
  });

  expect(equal.body).toEqual({ tasks: [] });
  expect(before.members).toMatchObject([{ address: "2001:db8::1" }]);
  expect([twice.status, twice.body.message]).toEqual([
    400,
    "members.1: repeats the address and protocol_port of another",
  ]);
});

test("the members can be sent as they were read, and nothing has changed", async () => {
  const { send, runTask } = await startService();
  await runTask("PATCH", POOL, { members: [MEMBER, { ...MEMBER, protocol_port: 81 }] });
  const { members } = (await send("GET", POOL)).body;

  const again = await send("PATCH", POOL, { body: { members } });

  expect(members).toHaveLength(2);
  expect([again.status, again.body]).toEqual([200, { tasks: [] }]);
});
