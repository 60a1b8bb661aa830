import type { Generated } from 'kysely'

/** A server process with its last report. */
export type SystemServerRow = {
  /** The machine and the port: the same after a restart. */
  readonly server: string
  readonly pid: number
  readonly version: string
  readonly startedAtMs: number
  readonly reportedAtMs: number
  /** null: it runs, or it ended without a shutdown. */
  readonly stoppedAtMs: number | null
  /** Starts since the row was created. */
  readonly starts: Generated<number>
  /** A JSON object. */
  readonly report: string
}

/** One minute of a server. */
export type SystemSampleRow = {
  readonly server: string
  readonly atMs: number
  /** Memory of the server process, and its JavaScript heap. */
  readonly rssBytes: number
  readonly heapBytes: number
  /** Memory of its vision workers together. */
  readonly workerBytes: number
  readonly workersUp: number
  /** The longest queue of images in this minute. */
  readonly queuedMax: number
  readonly calls: number
  /** Percentiles of the latency of these calls; null without calls. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}
