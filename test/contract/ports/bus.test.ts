import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { openLocalBus } from "../../../lib/local/local-bus.ts";
import { createEventbridgeBus } from "../../../lib/platform/aws/eventbridge-bus.ts";
import { storeKinds } from "../../support/durable-stores.ts";
import { silentLog } from "../../support/logs.ts";
import { answerPutEvents } from "../../support/put-events.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createStubAws } from "../../support/stub-aws.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { type ArrivedEvent, describeBusContract } from "./bus-contract.ts";

describeBusContract("EventBridge, against its documented limits", async () => {
  const arrived: ArrivedEvent[] = [];
  let isBroken = false;
  const aws = createStubAws((request) =>
    isBroken
      ? new Error("out of order")
      : answerPutEvents(request, ({ Source, DetailType, Detail }) => {
          arrived.push({ source: Source, detailType: DetailType, detail: JSON.parse(Detail) });
        }),
  );
  const client = new EventBridgeClient({ ...aws.clientConfig, maxAttempts: 1 });
  return {
    bus: createEventbridgeBus({ client, busName: "skyhook", source: "skyhook" }),
    arrived: async () => arrived,
    breakDown: async () => {
      isBroken = true;
      return /^out of order$/;
    },
    remove: async () => undefined,
  };
});

for (const { storeName, createStore } of storeKinds) {
  describeBusContract(`in this process, ${storeName}`, async () => {
    const store = await createStore();
    const map = (await store.open()).map("events");
    const arrived: ArrivedEvent[] = [];
    let isBroken = false;
    const bus = await openLocalBus({
      map: {
        load: map.load,
        write: (changes) =>
          isBroken ? Promise.reject(new Error("out of order")) : map.write(changes),
      },
      clock: createVirtualClock(),
      random: createSeededRandom(),
      log: silentLog,
      source: "skyhook",
    });
    bus.subscribe(async ({ source, "detail-type": detailType, detail }) => {
      arrived.push({ source, detailType, detail });
    });
    bus.start();
    return {
      bus,
      arrived: async () => arrived,
      breakDown: async () => {
        isBroken = true;
        return /^out of order$/;
      },
      remove: async () => {
        await bus.stop();
        await store.remove();
      },
    };
  });
}
