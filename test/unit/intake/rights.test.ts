import { beforeAll, describe, expect, test } from "vitest";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { createIntakeWorld, eventOf, OWN } from "./intake-world.ts";

const TEAM = "111111111111";
const GUEST = "222222222222";
const STRANGER = "333333333333";

/** `main` allows two projects; only the team may use `spare`. */
const RIGHTS = toAccountsConfig({
  accounts: [
    {
      name: "main",
      projects: [1, 2],
      operations: ["update-policy", "resume-instance", "create-storage-event", "follow-task"],
      senders: [
        "own",
        { sender: TEAM, projects: [1] },
        {
          sender: GUEST,
          operations: ["create-storage-event", "resume-instance"],
          projects: [2, 3],
        },
      ],
    },
    { name: "spare", senders: [TEAM] },
  ],
});

const SENDERS = [OWN, TEAM, GUEST, STRANGER];
const ACCOUNTS = ["main", "spare", "unknown"];
const PROJECTS = [1, 2, 3];

const INSTANCE = "6c6aa80f-7836-4dc2-a2ae-125e248be476";
const inProject = (project: number) => ({
  "update-policy": {
    params: { project_id: project, region_id: 1, policy_id: 1 },
    body: { status: "paused" },
  },
  "resume-instance": { params: { project_id: project, region_id: 1, instance_id: INSTANCE } },
  "update-pool": {
    params: { project_id: project, region_id: 1, pool_id: INSTANCE },
    body: { name: "renamed" },
  },
});
const ANYWHERE = {
  "create-storage-event": { body: { name: "reaching_used_space", bucket_name: "b", bytes: "1" } },
  "update-storage-event": { body: { name: "reaching_used_space", bucket_name: "b", bytes: "1" } },
  "follow-task": { params: { task_id: "t1" } },
};

/** All allowed requests: sender, account, operation, and project or `-`. */
const ALLOWED = new Set([
  // Our own AWS account: all that `main` allows.
  `${OWN} main update-policy 1`,
  `${OWN} main update-policy 2`,
  `${OWN} main resume-instance 1`,
  `${OWN} main resume-instance 2`,
  `${OWN} main follow-task -`,
  // The team: project 1 of `main`, and everything in `spare`.
  `${TEAM} main update-policy 1`,
  `${TEAM} main resume-instance 1`,
  `${TEAM} main follow-task -`,
  ...PROJECTS.flatMap((project) =>
    Object.keys(inProject(project)).map((operation) => `${TEAM} spare ${operation} ${project}`),
  ),
  ...Object.keys(ANYWHERE).map((operation) => `${TEAM} spare ${operation} -`),
  // The guest: two operations by name, in the one of its projects that `main` allows.
  `${GUEST} main resume-instance 2`,
  `${GUEST} main create-storage-event -`,
  // `main` lists create-storage-event by name, so it needs no project.
  `${OWN} main create-storage-event -`,
]);

const CASES = SENDERS.flatMap((sender) =>
  ACCOUNTS.flatMap((account) => [
    ...PROJECTS.flatMap((project) =>
      Object.entries(inProject(project)).map(([operation, data]) => ({
        name: `${sender} ${account} ${operation} ${project}`,
        sender,
        data: { operation, account, ...data },
      })),
    ),
    ...Object.entries(ANYWHERE).map(([operation, data]) => ({
      name: `${sender} ${account} ${operation} -`,
      sender,
      data: { operation, account, ...data },
    })),
  ]),
);

describe("rights by sender, account, operation and project", () => {
  const outcomes = new Map<string, unknown>();

  beforeAll(async () => {
    const world = await createIntakeWorld({ rights: RIGHTS, accounts: { main: {}, spare: {} } });
    for (const [index, { name, sender, data }] of CASES.entries()) {
      const detail = { metadata: { commandId: name }, data };
      await world.put(eventOf(sender, "CommandRequested", detail, { id: `event-${index}` }));
      await world.deliver();
      const isCommand = (await world.command(name, sender)) !== undefined;
      const [first] = world.bus.published().filter(({ metadata }) => metadata.commandId === name);
      outcomes.set(name, isCommand ? "command" : `${first?.detailType} ${first?.data.reason}`);
    }
  });

  test("every allowed request is one of the cases", () => {
    const names = new Set(CASES.map(({ name }) => name));

    expect([...ALLOWED].filter((name) => !names.has(name))).toEqual([]);
    expect(CASES).toHaveLength(144);
  });

  test.each(CASES.map(({ name }) => name))("%s", (name) => {
    expect(outcomes.get(name)).toBe(ALLOWED.has(name) ? "command" : "CommandRejected not-allowed");
  });
});
