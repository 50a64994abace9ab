/** docs/reference/events.md: incoming requests, and every event that Skyhook publishes. */
import { block, fieldTable, GENERATED, json, table, wrapped } from "./fields.mjs";

const INTRO = `${GENERATED}

# Events

This page lists every field of the events that Skyhook receives and publishes. [Commands](../commands.md) explains how
to send a command and what its events mean. [Contracts of the events](../event-contracts.md) has the JSON Schemas and the
AsyncAPI document, and says what a new version may change.`;

const ENVELOPE = `## Envelope

Skyhook publishes to an Amazon EventBridge bus. A subscriber receives these fields:

${table(
  ["Field", "Content"],
  [
    ["`source`", "`skyhook`, unless a stage sets another `eventSource`"],
    ["`detail-type`", "Name of the event, such as `CommandSucceeded`"],
    ["`detail.metadata`", "Identity and origin of the event, the same fields for all events"],
    ["`detail.data`", "Fields of this event. Later versions may add fields: ignore unknown ones"],
    ["`account`", "AWS account of Skyhook; `detail.metadata.sender` is the one of the sender"],
    ["`time`", "`detail.metadata.time` in whole seconds"],
    ["`id`", "Id that EventBridge gives each publication. Use `detail.metadata.id` instead"],
  ],
)}`;

const METADATA = "### Metadata";

const RULES = `### Delivery

- **Duplicates.** Delivery is at least once. An event about the same fact always has the same \`metadata.id\`. Store the
  ids that you have processed, and drop repeats.
- **Order.** EventBridge does not keep the order of events. A \`CommandSucceeded\` may arrive before its
  \`CommandAccepted\`. Compare \`metadata.time\`; an end is final.
- **Durability.** Skyhook publishes an event only after the ledger holds the fact. If the bus refuses an event, Skyhook
  publishes it again with the same id.
- **Correlation.** \`metadata.correlationId\` links all events of one request.
- **Size.** No event is larger than 200 kB. Lists hold the first 100 entries and at most about 100 kB; a
  separate count has the total. A text longer than its limit ends with \`…\`.
- **Large numbers.** \`bytes\` and \`count\` are decimal text, because JSON parsers round integers above 2^53-1.
- **Secrets.** No event contains an API key, a value of \`envs\`, or a \`pull_secret\`.

A rule for the ends of all commands has this pattern:

${block("json pattern", json({ source: ["skyhook"], "detail-type": ["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"] }))}`;

const REQUESTS = `## Requests

A request is an event on Skyhook's bus with any \`source\` but Skyhook's own. Its sender is the AWS account that
EventBridge stamps on the event. A message on \`commands.fifo\` has the same \`detail\` as its body, and its sender is
Skyhook's own AWS account. A local run also accepts the detail of \`CommandRequested\` by \`POST /commands\`.

Limits of every request:

- At most 256,000 bytes of JSON, nested at most 32 levels deep.
- Unknown fields of \`data\` are refused; unknown fields of \`metadata\` are ignored.
- The sender and the command's id identify the command. The same id with the same payload is the same command and runs
  once. The same id with another payload is rejected with reason \`id-reused\`.
- Fields that name the resource have at most 600 characters as part of a URL.
- [Reactions](../accounts-and-reactions.md) turn any other event into a command.`;

const REQUEST_TEXTS = {
  CommandRequested:
    "Asks Skyhook to run one operation. `params`, `query` and `body` follow the operation's schema: [Commands](../commands.md) lists the operations, and `openapi.json` of [the service](../service.md) has their fields. `bytes` and `count` are decimal text, or numbers up to 2^53-1.",
  TaskFollowRequested:
    "Asks Skyhook to follow a background task that another client started, and to publish its end. The request becomes the command `follow-task`. Its `metadata` is that of `CommandRequested`.",
};

const GROUPS = [
  ["Commands", /^Command/],
  ["Background tasks", /^Task/],
  ["Thresholds", /^Thresholds/],
  ["Prices", /^(Price|Watchlist)/],
  ["AI tasks", /^AiTask/],
  ["Accounts", /^Account/],
];

const linkTo = (name) => `[\`${name}\`](#${name.toLowerCase()})`;

const firstSentence = (text) => text.replace(/(?<=\.) .*$/s, "");

const requestSection = (name, { schema, example }) =>
  [
    `### ${name}`,
    wrapped(REQUEST_TEXTS[name]),
    fieldTable(schema, {
      heading: "Field of `detail`",
      required: "required",
      optional: "optional",
    }),
    "As an event file for `skyhook put-event`:",
    block("json event-file", json(example)),
  ].join("\n\n");

const eventSection = (name, { schema, example }) =>
  [
    `### ${name}`,
    wrapped(schema.description),
    fieldTable(schema, {
      heading: "Field of `detail.data`",
      required: "always",
      optional: "optional",
    }),
    block("json event", json(example)),
  ].join("\n\n");

/**
 * @param catalogue `requests` and `events`: JSON Schema and example by name; `metadata`: JSON Schema
 * @returns the page in Markdown
 */
export const eventsPage = ({ requests, metadata, events }) => {
  const names = Object.keys(events);
  const groups = GROUPS.map(([title, pattern]) => ({
    title,
    names: names.filter((name) => pattern.test(name)),
  }));
  const index = table(
    ["Event", "Published when"],
    groups.flatMap((group) =>
      group.names.map((name) => [linkTo(name), firstSentence(events[name].schema.description)]),
    ),
  );
  return `${[
    INTRO,
    `Requests: ${Object.keys(requests).map(linkTo).join(", ")}. Published events:`,
    index,
    ENVELOPE,
    METADATA,
    fieldTable(metadata, {
      heading: "Field of `detail.metadata`",
      required: "always",
      optional: "optional",
    }),
    RULES,
    REQUESTS,
    ...Object.entries(requests).map(([name, request]) => requestSection(name, request)),
    ...groups.flatMap((group) => [
      `## ${group.title}`,
      ...group.names.map((name) => eventSection(name, events[name])),
    ]),
  ].join("\n\n")}\n`;
};
