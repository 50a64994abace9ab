import { describe, expect, test } from "vitest";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { PLACE, requestOf, resumeInstance, shared, updatePolicy } from "../../support/requests.ts";
import { createIntakeWorld, eventOf, OWN } from "./intake-world.ts";

const TEAM = "111111111111";
const STRANGER = "333333333333";

const requested = (detail: unknown, fields: Readonly<Record<string, unknown>> = {}) =>
  eventOf(TEAM, "CommandRequested", detail, fields);

describe("a request without rights", () => {
  const rejectionOf = async (event: object) => {
    const current = await createIntakeWorld({ rights: shared(TEAM) });
    await current.put(event);
    return { current, data: current.bus.published().at(-1)?.data };
  };

  test("is rejected in the same words whether or not the account exists, and counted", async () => {
    const known = await rejectionOf(eventOf(STRANGER, "CommandRequested", updatePolicy("c1")));
    const named = await rejectionOf(
      eventOf(STRANGER, "CommandRequested", resumeInstance("c1", { account: "local" })),
    );
    const unknown = await rejectionOf(
      eventOf(STRANGER, "CommandRequested", resumeInstance("c1", { account: "unknown" })),
    );

    const problems = [
      {
        path: "",
        rule: "the sender has no right to this request; rights are granted under `senders` in the accounts file",
      },
    ];
    for (const { data, current } of [known, named, unknown]) {
      expect(data).toMatchObject({ reason: "not-allowed", problems });
      expect(current.counted).toEqual(["CommandNotAllowed", "CommandEnded rejected"]);
    }
    expect(named.data).toEqual(unknown.data);
  });

  test("is also rejected if it is sent to the command queue directly", async () => {
    const current = await createIntakeWorld({
      rights: toAccountsConfig({ accounts: [{ name: "local", senders: [TEAM] }] }),
    });

    await current.send(updatePolicy("c1"));
    await current.untilQuiet();

    expect(current.bus.published().at(-1)?.data.reason).toBe("not-allowed");
    expect(current.bus.published().at(-1)?.metadata.sender).toBe(OWN);
  });

  test("is rejected if a guard reads a tag of another project", async () => {
    const rights = toAccountsConfig({
      accounts: [{ name: "local", senders: [{ sender: TEAM, projects: [PLACE.project_id] }] }],
    });
    const current = await createIntakeWorld({ rights });
    const network = {
      project_id: 1186668,
      region_id: 148,
      network_id: "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60",
    };
    const guards = [{ network, key: "cost-center", equals: "x" }];

    await current.put(requested(resumeInstance("c1", { guards })));

    expect(current.bus.published().at(-1)?.data.reason).toBe("not-allowed");
    expect(JSON.stringify(current.bus.published())).not.toContain("platform");
  });

  test("is rejected if a path parameter could lead out of the sender's projects", async () => {
    const senders = [{ sender: TEAM, projects: [1] }, { sender: STRANGER }];
    const rights = toAccountsConfig({ accounts: [{ name: "local", senders }] });
    const current = await createIntakeWorld({ rights });
    const params = { project_id: 1, region_id: 1, container_name: "../../2/76/containers/victim" };
    const request = requestOf("c1", { operation: "update-container", params, body: {} });

    await current.put(requested(request));
    await current.put(eventOf(STRANGER, "CommandRequested", request));

    const [rejected, ...others] = current.bus.published();
    expect(rejected?.data.problems).toEqual([
      {
        path: "params.container_name",
        rule: "must not contain slashes, backslashes or control characters",
      },
    ]);
    expect(others).toEqual([]);
  });

  test("is rejected as invalid if its sender may use several accounts and it names none", async () => {
    const rights = toAccountsConfig({
      accounts: ["one", "two"].map((name) => ({ name, senders: [TEAM] })),
    });
    const current = await createIntakeWorld({ rights, accounts: { one: {}, two: {} } });

    await current.put(requested(updatePolicy("c1")));
    await current.put(requested(resumeInstance("c2", { account: "two" }), { id: "second" }));
    await current.untilQuiet();

    expect(current.bus.published()[0]?.data).toMatchObject({
      reason: "invalid",
      problems: [{ path: "account", rule: "required: the sender may use more than one account" }],
    });
    expect((await current.command("c2", TEAM))?.account).toBe("two");
  });
});
