/** Version of the detail's shape: `detail.metadata.version`. An incompatible change raises it. */
export const DETAIL_VERSION = 1;

/**
 * Version of the published documents: the detail's version, then a number that an addition raises, then one that a
 * change of texts raises.
 */
export const CONTRACT_VERSION = `${DETAIL_VERSION}.0.0`;
