import type { PostgresCluster } from '../../test/support/database/postgres-server.ts'

/** What both parts of the bench of several servers are given. */
export type ClusterBench = {
  readonly cluster: PostgresCluster
  /** Data folders go here. */
  readonly folder: string
  readonly measureMs: number
  readonly rounds: number
}

/** Connections that each have one call under way. */
export const clientCount = 32
