/** Limits of a server in a test, which reaches none of them unless it replaces it. */
export const serverLimits = {
  headersMsMax: 10_000,
  requestMsMax: 30_000,
  connectionsMax: 100,
  connectionsPerAddressMax: 100,
  writeMsMax: 20_000,
  drainMsMax: 100,
}
