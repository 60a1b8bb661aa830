import { clusterMissing, startCluster, type Cluster } from './postgres.ts'

/** `npm test` starts one PostgreSQL for all test files, which find it by the environment. */
let cluster: Cluster | undefined

export async function globalSetup(): Promise<void> {
  if (clusterMissing !== undefined || process.env['TEST_POSTGRES_URL']) return
  cluster = await startCluster()
  process.env['TEST_POSTGRES_URL'] = cluster.adminUrl
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
