import { installationLimits, type UnitCosts } from './unit-costs.ts'

export type Workload = {
  readonly faces: number
  /** Calls per second at the busiest time, each with one image that is searched for in all faces. */
  readonly callsPerS: number
  /** Days for which the request log is kept, and the share of the busiest rate that is the mean. */
  readonly logDays: number
  readonly meanShare: number
  readonly coresPerServer: number
}

/** Prices per month, in one currency. */
export type ResourcePrices = {
  readonly core: number
  readonly memoryGb: number
  readonly diskGb: number
}

/** Cores are planned for this multiple of the mean load, so that short queues do not grow. */
const coreReserve = 1.5

/** Estimates the resources of a workload. All results are linear in the unit costs. */
export function estimateSize(workload: Workload, costs: UnitCosts, prices: ResourcePrices) {
  const { facesMax, callsPerDatabaseMax, callsOnSqliteMax } = installationLimits
  const installations = Math.max(
    1,
    Math.ceil(workload.faces / facesMax),
    Math.ceil(workload.callsPerS / callsPerDatabaseMax),
  )
  const faces = workload.faces / installations
  const callsPerS = workload.callsPerS / installations
  const share = { ...workload, faces, callsPerS }
  const onSqlite = installationSize(share, costs, 'sqlite')
  const isSqlite = onSqlite.servers === 1 && callsPerS <= callsOnSqliteMax
  const database = isSqlite ? 'sqlite' : 'postgresql'
  const one = isSqlite ? onSqlite : installationSize(share, costs, database)
  const cores = one.cores * installations
  const servers = one.servers * installations
  const diskGb = one.diskGb * installations
  return {
    faces: workload.faces,
    callsPerS: workload.callsPerS,
    database,
    /** Independent installations with a group of accounts each; faces and calls are divided evenly. */
    installations,
    /** Of all installations together. */
    cores,
    servers,
    memoryGbPerServer: one.memoryGb,
    diskGb,
    /** The time of one search on one thread, ms. */
    searchMs: (faces / 1e6) * costs.searchMsPerMillion,
    costPerMonth:
      cores * prices.core + servers * one.memoryGb * prices.memoryGb + diskGb * prices.diskGb,
  }
}

/** One installation. Every server has all faces of its installation in memory. */
function installationSize(
  { faces, callsPerS, logDays, meanShare, coresPerServer }: Workload,
  costs: UnitCosts,
  database: keyof UnitCosts['callMs'],
) {
  const searchMs = (faces / 1e6) * costs.searchMsPerMillion
  const busyCores = (callsPerS * (costs.imageMs + searchMs + costs.callMs[database])) / 1000
  const cores = Math.max(2, Math.ceil(coreReserve * busyCores))
  const servers = Math.ceil(cores / coresPerServer)
  const workers = Math.ceil(cores / servers)
  const memoryBytes =
    costs.serverBytes +
    costs.sharedNetworkBytes +
    workers * costs.workerBytes +
    faces * costs.faceBytes
  const calls = callsPerS * meanShare * logDays * secondsPerDay
  const diskBytes = faces * costs.storedFaceBytes[database] + calls * costs.loggedCallBytes
  return { cores, servers, memoryGb: memoryBytes / 1e9, diskGb: diskBytes / 1e9 }
}

const secondsPerDay = 86_400
