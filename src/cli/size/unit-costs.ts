/** What one unit of work or data costs. */
export type UnitCosts = Readonly<typeof measuredCosts>

/**
 * Measured on two cores of an Intel Xeon with fast instructions for 8-bit integers, except the search
 * and the disk (an AMD EPYC):
 *
 * - `imageMs`: `npm run bench images -- --action svc.identify` with the built-in models, the workers
 *   (30 ms) and the server process (4 ms). With `VISION_INT8=off` it is 52 ms.
 * - `searchMsPerMillion`: `node bench/main.ts search`, one thread.
 * - `callMs`: `npm run bench calls`, 3,963 and 2,303 calls/s on two cores, which the client shares.
 * - `serverBytes`, `workerBytes` and `sharedNetworkBytes`: `npm run bench memory`.
 * - `storedFaceBytes`: `npm run bench disk`, and 1,100 bytes of the page of a large gallery, from the
 *   growth of the database by `node bench/main.ts search --load 200000 --folder DIR`.
 * - `loggedCallBytes`: growth of a SQLite file by 4,000 calls of svc.identify, with the request log, the
 *   ledger and the stored responses.
 */
export const measuredCosts = {
  /** Processor time of one image, ms: decoding, detection, and a template if the call needs one. */
  imageMs: 34,
  /** Processor time of one search among a million templates of 256 values, ms. */
  searchMsPerMillion: 13.32,
  /** Processor time of the rest of a call, ms: HTTP, admission, settlement and the database. */
  callMs: { sqlite: 0.5, postgresql: 0.87 },
  /** Memory, bytes. */
  serverBytes: 390e6,
  workerBytes: 170e6,
  sharedNetworkBytes: 150e6,
  faceBytes: 1500,
  /** Disk, bytes. */
  storedFaceBytes: { sqlite: 3600, postgresql: 4600 },
  loggedCallBytes: 1750,
}

/** Limits from which on an installation needs another form. */
export const installationLimits = {
  /** Templates in the memory of one process that can be searched with leads: 4 GiB. */
  facesMax: 10.5e6,
  /** Gated calls per second of one PostgreSQL server that were measured, on two shared cores. */
  callsPerDatabaseMax: 2300,
  /** Above this number of calls per second, or with several servers, SQLite is not recommended. */
  callsOnSqliteMax: 1000,
}
