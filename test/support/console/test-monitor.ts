import type { Config } from '../../../src/config.ts'
import {
  createRecentProblems,
  type RecentProblems,
} from '../../../src/lib/observability/recent-problems.ts'
import {
  openSystemMonitor,
  type SystemMonitor,
  type SystemMonitorSources,
} from '../../../src/start/system/system-monitor.ts'

type TestMonitorOptions = Pick<SystemMonitorSources, 'store' | 'clock' | 'log'> & {
  readonly recentProblems?: RecentProblems
}

/** Opens the monitor of a service without vision workers. */
export function openTestMonitor(
  config: Config,
  { recentProblems = createRecentProblems(), store, clock, log }: TestMonitorOptions,
): SystemMonitor {
  return openSystemMonitor(config, {
    version: 'test',
    store,
    vision: { stats: () => ({ workersUp: 0, queued: 0, queuedBytes: 0 }), workerReports: () => [] },
    notReady: async () => [],
    recentProblems,
    clock,
    log,
  })
}
