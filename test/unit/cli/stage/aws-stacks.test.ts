import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAwsStacks } from "../../../../lib/cli/stage/aws-stacks.ts";

/*
 * The replies of CloudFormation that an emulator does not give. `npm run test:package` deploys to one.
 */

type Fields = Readonly<Record<string, string>>;

let server: Server;
let sent: Fields[];
/** Method, path and checked owner of the requests to S3. */
let objects: readonly (string | undefined)[][];
let answer: (request: Fields) => { readonly status?: number; readonly body: string };

beforeEach(async () => {
  sent = [];
  objects = [];
  server = createServer(async (request, response) => {
    const { method, url = "", headers } = request;
    if (url.startsWith("/zips/")) {
      const owner = headers["x-amz-expected-bucket-owner"];
      objects = [...objects, [method, url.split("?")[0], owner && String(owner)]];
      response.end();
      return;
    }
    const fields = Object.fromEntries(new URLSearchParams(await text(request)));
    sent.push(fields);
    const { status = 200, body } = answer(fields);
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

const stacks = () => createAwsStacks("eu-central-1");
const result = (operation: string, content: string) => ({
  body: `<${operation}Response><${operation}Result>${content}</${operation}Result></${operation}Response>`,
});
const refusal = (message: string) => ({
  status: 400,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error></ErrorResponse>`,
});
const changeOf = (fields: string) => `<member><ResourceChange>${fields}</ResourceChange></member>`;

test("the changes of all pages of a change set are read, with their kinds and properties", async () => {
  const details = (name: string) =>
    `<Details><member><Target><Attribute>Properties</Attribute><Name>${name}</Name></Target></member>
     <member><Target><Attribute>Tags</Attribute></Target></member></Details>`;
  const pages = [
    `${changeOf("<Action>Add</Action><LogicalResourceId>A</LogicalResourceId><ResourceType>T</ResourceType>")}
     ${changeOf(`<Action>Modify</Action><LogicalResourceId>B</LogicalResourceId><Replacement>False</Replacement>${details("Code")}`)}
     ${changeOf("<Action>Modify</Action><LogicalResourceId>C</LogicalResourceId><Replacement>Conditional</Replacement>")}`,
    `${changeOf("<Action>Modify</Action><LogicalResourceId>D</LogicalResourceId><Replacement>True</Replacement><PolicyAction>ReplaceAndRetain</PolicyAction>")}
     ${changeOf("<Action>Remove</Action><LogicalResourceId>E</LogicalResourceId><PolicyAction>Delete</PolicyAction>")}`,
  ];
  answer = ({ NextToken }) =>
    result(
      "DescribeChangeSet",
      `<Status>CREATE_COMPLETE</Status><Changes>${pages[NextToken ? 1 : 0]}</Changes>${NextToken ? "" : "<NextToken>2</NextToken>"}`,
    );

  expect(await stacks().changeSet("skyhook-prod", "x")).toEqual({
    kind: "ready",
    changes: [
      { action: "add", type: "T", logicalId: "A", properties: [], isKept: false },
      { action: "change", type: "", logicalId: "B", properties: ["Code", "Tags"], isKept: false },
      { action: "may-replace", type: "", logicalId: "C", properties: [], isKept: false },
      { action: "replace", type: "", logicalId: "D", properties: [], isKept: true },
      { action: "remove", type: "", logicalId: "E", properties: [], isKept: false },
    ],
  });
});

test.each([
  ["CREATE_IN_PROGRESS", "", { kind: "pending" }],
  ["FAILED", "The submitted information didn't contain changes.", { kind: "empty" }],
  ["FAILED", "No updates are to be performed.", { kind: "empty" }],
  ["FAILED", "no such role", { kind: "failed", reason: "no such role" }],
])("a change set that is %s is read: %s", async (status, reason, state) => {
  answer = () =>
    result("DescribeChangeSet", `<Status>${status}</Status><StatusReason>${reason}</StatusReason>`);

  expect(await stacks().changeSet("skyhook-prod", "x")).toEqual(state);
});

test("the events after a known one are read from all pages, the oldest first", async () => {
  const event = (id: string) => `<member><EventId>${id}</EventId></member>`;
  answer = ({ NextToken }) =>
    NextToken
      ? result(
          "DescribeStackEvents",
          `<StackEvents>${event("2")}${event("1")}${event("0")}</StackEvents>`,
        )
      : result(
          "DescribeStackEvents",
          `<StackEvents>${event("4")}${event("3")}</StackEvents><NextToken>2</NextToken>`,
        );

  const idsAfter = async (id: string | undefined) =>
    (await stacks().eventsAfter("skyhook-prod", id)).map((each) => each.id);

  expect(await idsAfter("1")).toEqual(["2", "3", "4"]);
  expect(await idsAfter(undefined)).toEqual(["0", "1", "2", "3", "4"]);
});

test("a stack and a bucket that do not exist are undefined, any other refusal is an error", async () => {
  answer = () => refusal("Stack with id skyhook-prod does not exist");
  expect(await stacks().find("skyhook-prod")).toBeUndefined();
  expect(await stacks().ownBucket("skyhook-prod")).toBeUndefined();

  answer = () => refusal("rate exceeded");
  await expect(stacks().find("skyhook-prod")).rejects.toThrow("rate exceeded");
});

test("an upload replaces the object of the key, in a bucket of the stack's AWS account only", async () => {
  answer = () =>
    result(
      "DescribeStackResource",
      `<StackResourceDetail><PhysicalResourceId>zips</PhysicalResourceId>
       <StackId>arn:aws:cloudformation:eu-central-1:123456789012:stack/skyhook-prod/1</StackId></StackResourceDetail>`,
    );
  const bucket = await stacks().ownBucket("skyhook-prod");
  expect(bucket).toEqual({ name: "zips", owner: "123456789012" });

  await stacks().upload({ name: "zips", owner: "123456789012" }, "a.zip", Buffer.from("zip"));
  await stacks().upload({ name: "zips", owner: undefined }, "b.zip", Buffer.from("zip"));

  expect(objects).toEqual([
    ["PUT", "/zips/a.zip", "123456789012"],
    ["PUT", "/zips/b.zip", undefined],
  ]);
});

test("only a stack without resources is removed", async () => {
  const statuses = ["UPDATE_COMPLETE", "REVIEW_IN_PROGRESS"];
  for (const status of statuses) {
    answer = ({ Action = "" }) =>
      result(
        Action,
        `<Stacks><member><StackName>s</StackName><StackStatus>${status}</StackStatus></member></Stacks>`,
      );
    await stacks().removeEmptyStack("skyhook-prod");
  }

  expect(sent.map(({ Action }) => Action)).toEqual([
    "DescribeStacks",
    "DescribeStacks",
    "DeleteStack",
  ]);
});

test("a change set gets tags, both capabilities, and the address of its template", async () => {
  answer = () => result("CreateChangeSet", "<Id>x</Id>");

  await stacks().createChangeSet({
    stackName: "skyhook-prod",
    name: "x",
    isNew: false,
    template: { bucket: "zips", key: "skyhook/prod/template.json" },
    tags: { Application: "skyhook" },
  });

  expect(sent).toEqual([
    expect.objectContaining({
      ChangeSetType: "UPDATE",
      TemplateURL: "https://s3.eu-central-1.amazonaws.com/zips/skyhook/prod/template.json",
      "Capabilities.member.1": "CAPABILITY_IAM",
      "Capabilities.member.2": "CAPABILITY_NAMED_IAM",
      "Tags.member.1.Key": "Application",
      "Tags.member.1.Value": "skyhook",
    }),
  ]);
});
