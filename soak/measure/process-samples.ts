import type { SoakServer } from '../server.ts'
import { workerProcessIds } from '../server.ts'
import { readProcessUsage, type SampledUsage } from './process-files.ts'

export type ProcessSample = SampledUsage & { readonly atMs: number }

/** All samples of one process. */
export type ProcessSeries = {
  readonly name: 'server' | 'vision worker'
  readonly pid: number
  readonly samples: ProcessSample[]
}

/** What Node reports about the HTTP process itself. */
export type HandleSample = { readonly atMs: number; readonly handles: number }

export type ProcessSampler = {
  readonly series: ReadonlyMap<number, ProcessSeries>
  readonly handles: readonly HandleSample[]
  readonly sample: () => Promise<void>
}

/** Samples the service process and its vision workers. A process that has ended gets no more samples. */
export function createProcessSampler(server: SoakServer): ProcessSampler {
  const series = new Map<number, ProcessSeries>()
  const handles: HandleSample[] = []
  const add = async (name: ProcessSeries['name'], pid: number): Promise<void> => {
    const usage = await readProcessUsage(pid)
    if (!usage) return
    const known = series.get(pid) ?? { name, pid, samples: [] }
    series.set(pid, known)
    known.samples.push({ atMs: Date.now(), ...usage })
  }
  return {
    series,
    handles,
    sample: async () => {
      const { process: child, url } = await server.running()
      if (child.pid === undefined) return
      await add('server', child.pid)
      for (const pid of await workerProcessIds(child.pid)) await add('vision worker', pid)
      const metrics = await fetch(`${url}/metrics`)
        .then((response) => response.text())
        .catch(() => '')
      const total = /^nodejs_active_handles_total (\d+)/mu.exec(metrics)?.[1]
      if (total !== undefined) handles.push({ atMs: Date.now(), handles: Number(total) })
    },
  }
}
