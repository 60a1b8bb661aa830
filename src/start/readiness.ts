import { runAsAllAccounts } from '../lib/account-context.ts'
import { statfsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Store } from '../store/database.ts'
import type { VisionPool } from '../vision/workers/vision-pool.ts'

/** Whether the server is ready for calls: `/readyz`, the metrics and the console report it. */
export type Readiness = {
  /** Returns the reasons why calls cannot be served now, one sentence each. */
  readonly notReady: () => Promise<readonly string[]>
  /** Reports not ready from now on, and resolves after `SHUTDOWN_DELAY_MS`. */
  readonly announceShutdown: () => Promise<void>
}

const freeBytesMin = 1024 ** 3

const shutdownReason = 'the server is shutting down'

export function createReadiness(config: Config, store: Store, vision: VisionPool): Readiness {
  let isShuttingDown = false
  return {
    notReady: async () =>
      isShuttingDown ? [shutdownReason] : findReasons(store, vision, config.DATA_DIR),
    announceShutdown: async () => {
      isShuttingDown = true
      await sleep(config.SHUTDOWN_DELAY_MS)
    },
  }
}

async function findReasons(store: Store, vision: VisionPool, dataDir: string): Promise<string[]> {
  const reasons: string[] = []
  if (!vision.isReady()) reasons.push('no vision worker is running')
  const accounts = store.db.selectFrom('accounts').select('accountId').limit(1)
  const rows = await runAsAllAccounts(() => accounts.execute()).catch(() => undefined)
  if (!rows) reasons.push('the database does not respond')
  else if (rows.length === 0) reasons.push('the database has no account')
  if (!store.isShared && freeBytes(dataDir) < freeBytesMin)
    reasons.push('less than 1 GiB of disk is free')
  return reasons
}

/** Returns the free bytes of the disk of a folder for this user. @throws Error if there is none. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
