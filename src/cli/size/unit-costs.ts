/** What one unit of work or data costs. */
export type UnitCosts = {
  /** Processor time of one image, ms: decoding, detection, and a template if the call needs one. */
  readonly imageMs: number
  /** Processor time of one search among a million templates of 256 values, ms. */
  readonly searchMsPerMillion: number
  /** Processor time of the rest of a call, ms: HTTP, admission, settlement and the database. */
  readonly callMs: { readonly sqlite: number; readonly postgresql: number }
  /** Memory, bytes. */
  readonly serverBytes: number
  readonly workerBytes: number
  readonly sharedNetworkBytes: number
  readonly faceBytes: number
  /** Disk, bytes. */
  readonly storedFaceBytes: { readonly sqlite: number; readonly postgresql: number }
  readonly loggedCallBytes: number
}

/**
 * Measured on two cores that were shared with other work:
 *
 * - `imageMs`: `npm run bench sets`, one worker, detection and template, best round of the built-in
 *   models (19.2 images/s).
 * - `searchMsPerMillion`: `node bench/main.ts search`, one thread.
 * - `callMs`: `npm run bench calls`, 2,689 and 1,800 calls/s on two cores, which the client shares.
 * - `serverBytes`, `workerBytes` and `sharedNetworkBytes`: `npm run bench memory`.
 * - `storedFaceBytes`: `npm run bench disk`, and 1,100 bytes of the page of a large gallery, from the
 *   growth of the database by `node bench/main.ts search --load 200000 --folder DIR`.
 * - `loggedCallBytes`: growth of a SQLite file by 4,000 calls of svc.identify, with the request log, the
 *   ledger and the stored responses.
 */
export const measuredCosts: UnitCosts = {
  imageMs: 52,
  searchMsPerMillion: 13.32,
  callMs: { sqlite: 0.74, postgresql: 1.11 },
  serverBytes: 390e6,
  workerBytes: 170e6,
  sharedNetworkBytes: 150e6,
  faceBytes: 1500,
  storedFaceBytes: { sqlite: 3600, postgresql: 4600 },
  loggedCallBytes: 1750,
}

/** Limits from which on an installation needs another form. */
export const installationLimits = {
  /** Templates in the memory of one process that can be searched with leads: 4 GiB. */
  facesMax: 10.5e6,
  /** Gated calls per second of one PostgreSQL server that were measured, on two shared cores. */
  callsPerDatabaseMax: 1800,
  /** Above this number of calls per second, or with several servers, SQLite is not recommended. */
  callsOnSqliteMax: 1000,
}
