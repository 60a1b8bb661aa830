import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDataDir } from '../test/support/facegate/test-facegate.ts'
import { spawnFacegate, type FacegateProcess } from '../test/support/facegate/spawn-facegate.ts'
import { childProcessIds, readCommandLine } from './measure/process-files.ts'

/** The service under load. It is restarted in the same data folder. */
export type SoakServer = AsyncDisposable & {
  readonly dataDir: string
  readonly key: string
  /** Resolves with the running service; during a restart, with the next one. */
  readonly running: () => Promise<FacegateProcess>
  /** Ends the process with a signal and starts it again. @returns the exit code; null after a kill. */
  readonly restart: (signal: 'SIGKILL' | 'SIGTERM') => Promise<number | null>
  /** Stops the process with SIGTERM. @returns its exit code. */
  readonly stop: () => Promise<number | null>
  /** Kills the youngest vision worker. @returns its pid, if one was running. */
  readonly killWorker: () => Promise<number | undefined>
}

/** A project under soak has no budget limit and no rate limit: refusals come from overload only. */
const settings = { STARTER_CREDIT_MICROS: '1000000000000000', VISION_WORKERS: '2' }

export async function startSoakServer(): Promise<SoakServer> {
  const dataDir = await createDataDir()
  const first = await spawnFacegate(settings, { dataDir })
  const { key } = first
  let running = Promise.resolve(first)
  let child = first.process
  process.once('exit', () => child.kill('SIGKILL'))
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    await running
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill(signal)
    return exited
  }
  return {
    dataDir,
    key,
    running: () => running,
    restart: async (signal) => {
      const ended = end(signal)
      running = ended.then(() => spawnFacegate(settings, { dataDir, key }))
      child = (await running).process
      return ended
    },
    stop: () => end('SIGTERM'),
    killWorker: async () => {
      const server = await running
      const youngest = (await workerProcessIds(server.process.pid ?? 0)).at(-1)
      if (youngest !== undefined) process.kill(youngest, 'SIGKILL')
      return youngest
    },
    [Symbol.asyncDispose]: async () => {
      await running
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await sleep(100)
    },
  }
}

/** Returns the vision workers of a service process, oldest first. */
export async function workerProcessIds(pid: number): Promise<number[]> {
  const workers: { readonly pid: number; readonly startTicks: number }[] = []
  for (const child of await childProcessIds(pid)) {
    if (!(await readCommandLine(child)).includes('vision/workers/worker')) continue
    const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')
    // The fields after the command name, which may contain spaces; the start time is field 22.
    const startTicks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    workers.push({ pid: child, startTicks })
  }
  return workers.toSorted((a, b) => a.startTicks - b.startTicks).map((worker) => worker.pid)
}
