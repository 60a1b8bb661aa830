import type { Cluster } from '../../test/postgres.ts'

/** What both parts of the bench of several servers are given. */
export type Bench = {
  readonly cluster: Cluster
  /** Data folders go here. */
  readonly folder: string
  readonly measureMs: number
  readonly rounds: number
}

/** Connections that each have one call under way. */
export const clients = 32
