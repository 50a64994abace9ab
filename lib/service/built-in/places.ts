/** Where the built-in world lives: two projects of one client, two regions. */
export const PROJECT_A = { project_id: 1234567, region_id: 76 } as const;
export const PROJECT_B = { project_id: 1186668, region_id: 148 } as const;
/** Of the provider itself: its external networks are in no customer's project. */
export const PROVIDER_PROJECT = 1;
export const REGION_NAMES = { 76: "Luxembourg-2", 148: "Luxembourg-3" } as const;

export const SUBNET_OF_ROUTER = "32283b0b-b560-4690-810c-f672cbb2e28d";
