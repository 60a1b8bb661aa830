import type { PostgresCluster } from '../../test/support/database/postgres-server.ts'

/** The options of both parts of the benchmark of several servers. */
export type ClusterBench = {
  readonly cluster: PostgresCluster
  /** Parent of the data folders. */
  readonly folder: string
  readonly measureMs: number
  readonly rounds: number
}

/** Connections with one call in flight each. */
export const clientCount = 32
