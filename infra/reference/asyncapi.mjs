/** schemas/asyncapi.json: the events on Skyhook's bus as an AsyncAPI 3.0 document, from Skyhook's view. */

const INFO = `Skyhook publishes events to an Amazon EventBridge bus, and receives requests from the same bus. A payload is an event as EventBridge delivers it.

The document describes Skyhook: a subscriber receives what Skyhook sends, and a sender sends what Skyhook receives.

Delivery is at least once and without order. Events about the same fact have the same \`detail.metadata.id\`. Later versions may add fields: ignore unknown ones.`;

/** The end of a command, or its rejection, reaches the sender as an event of its own. */
const REPLIES = [
  "CommandAccepted",
  "CommandRejected",
  "CommandSucceeded",
  "CommandFailed",
  "CommandCancelled",
];

const GROUPS = [
  ["Command", "commands", "Publishes what happens to a command, up to its end."],
  ["Task", "tasks", "Publishes the end of a command's background task."],
  ["Thresholds", "thresholds", "Publishes each sync of the thresholds file, and its differences."],
  ["Price", "prices", "Publishes each run over the watchlist, and each changed price."],
  ["Watchlist", "prices", ""],
  ["AiTask", "ai-tasks", "Publishes the ends of AI tasks, and when their list is refused."],
  ["Account", "accounts", "Publishes what keeps all commands of an account waiting."],
];

const groupOf = (type) => GROUPS.find(([prefix]) => type.startsWith(prefix))[1];

/** Without the keywords of a document of its own: AsyncAPI's default dialect is another one. */
const payloadOf = ({ $schema: _, $id: __, ...schema }) => schema;

const onBus = (type) => ({ $ref: `#/channels/bus/messages/${type}` });

const messageOf = ([type, { schema, example }], tag) => ({
  name: type,
  title: type,
  summary: schema.description.replace(/(?<=\.) .*$/s, ""),
  description: schema.description,
  contentType: "application/json",
  tags: [{ name: tag }],
  correlationId: {
    description: "The same for a request and all events of its command",
    location: "$message.payload#/detail/metadata/correlationId",
  },
  payload: { $ref: `#/components/schemas/${type}` },
  examples: [{ name: type, payload: example }],
});

const sendOperation = ([, tag, summary], types) => [
  `publish-${tag}`,
  {
    action: "send",
    summary,
    channel: { $ref: "#/channels/bus" },
    tags: [{ name: tag }],
    messages: types.filter((type) => groupOf(type) === tag).map(onBus),
  },
];

const receiveOperation = (types) => ({
  action: "receive",
  summary: "Receives requests from senders; their rights are in the accounts file.",
  channel: { $ref: "#/channels/bus" },
  tags: [{ name: "requests" }],
  messages: types.map(onBus),
  reply: { channel: { $ref: "#/channels/bus" }, messages: REPLIES.map(onBus) },
});

/**
 * @param catalogue `version` of the document; `requests` and `events`: JSON Schema and example by name
 * @returns the document
 */
export const asyncApi = ({ version, requests, events }) => {
  const all = { ...requests, ...events };
  const types = Object.keys(events);
  return {
    asyncapi: "3.0.0",
    id: "urn:skyhook",
    info: {
      title: "Skyhook events",
      version,
      description: INFO,
      license: { name: "MIT" },
    },
    defaultContentType: "application/json",
    channels: {
      bus: {
        address: "skyhook-{stage}-events",
        title: "Event bus",
        description: "The EventBridge bus of a stage; its ARN is an output of the stack.",
        parameters: { stage: { description: "Name of the stage", examples: ["prod"] } },
        messages: Object.fromEntries(
          Object.keys(all).map((type) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
      },
    },
    operations: {
      "receive-requests": receiveOperation(Object.keys(requests)),
      ...Object.fromEntries(
        GROUPS.filter(([, , summary]) => summary !== "").map((group) =>
          sendOperation(group, types),
        ),
      ),
    },
    components: {
      messages: Object.fromEntries([
        ...Object.entries(requests).map((each) => [each[0], messageOf(each, "requests")]),
        ...Object.entries(events).map((each) => [each[0], messageOf(each, groupOf(each[0]))]),
      ]),
      schemas: Object.fromEntries(
        Object.entries(all).map(([type, { schema }]) => [type, payloadOf(schema)]),
      ),
    },
  };
};
