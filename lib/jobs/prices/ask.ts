import { createHash } from "node:crypto";
import { previewInstancePrice } from "../../contract/instance-price.ts";
import { formatWireJson } from "../../contract/json.ts";
import { getDdosPrice, getGpuClusterPrice, getK8sClusterPrice } from "../../contract/prices.ts";
import type { Client } from "../../provider/client.ts";
import type { PriceReading } from "./price.ts";
import { ddosReading, gpuClusterReading, instanceReading, k8sClusterReading } from "./reading.ts";
import type { PriceOrder } from "./watchlist.ts";

/** Digest of what is asked: the same for the same order, in whatever way a file writes it. */
export const fingerprintOf = (order: PriceOrder): string =>
  createHash("sha256").update(formatWireJson(order)).digest("hex");

/** Asks the provider for one price. @throws ProviderError when there is none */
export const askPrice = async (client: Client, order: PriceOrder): Promise<PriceReading> => {
  const nothing = { query: {}, body: undefined };
  switch (order.kind) {
    case "instance": {
      const { params, body } = order;
      return instanceReading(await client.call(previewInstancePrice, { params, query: {}, body }));
    }
    case "k8s_cluster": {
      const { params } = order;
      return k8sClusterReading(await client.call(getK8sClusterPrice, { params, ...nothing }));
    }
    case "gpu_cluster": {
      const { params } = order;
      return gpuClusterReading(await client.call(getGpuClusterPrice, { params, ...nothing }));
    }
    case "ddos": {
      const { params } = order;
      return ddosReading(await client.call(getDdosPrice, { params, ...nothing }));
    }
    default:
      return order satisfies never;
  }
};
