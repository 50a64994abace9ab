import type { StorageEventRecord } from "../state/state.ts";

export const builtInStorageEvents = (): StorageEventRecord[] => [
  {
    client_id: 1,
    uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01",
    name: "reaching_used_space",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    bytes: "500",
  },
  {
    client_id: 1,
    uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e02",
    name: "reaching_files_quantity",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    count: "5",
  },
];
