import {
  clusterSkipReason,
  startPostgresCluster,
  type PostgresCluster,
} from './support/database/postgres-server.ts'

/** `npm test` starts one PostgreSQL for all test files, which find it by the environment. */
let cluster: PostgresCluster | undefined

export async function globalSetup(): Promise<void> {
  if (clusterSkipReason !== undefined || process.env['TEST_POSTGRES_URL']) return
  cluster = await startPostgresCluster()
  process.env['TEST_POSTGRES_URL'] = cluster.adminUrl
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
