import { readdir, readFile } from 'node:fs/promises'

/** The resources of one process at one time. */
export type SampledUsage = {
  readonly rssBytes: number
  /** Open file descriptors. */
  readonly fds: number
  readonly threads: number
}

/** Reads the resources of a process. @returns undefined if it does not exist any more. */
export async function readProcessUsage(pid: number): Promise<SampledUsage | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const fds = (await readdir(`/proc/${pid}/fd`)).length
    const rssKiB = /VmRSS:\s+(\d+) kB/u.exec(status)?.[1]
    const threads = /Threads:\s+(\d+)/u.exec(status)?.[1]
    // A process that has ended but was not waited for yet has no memory.
    if (rssKiB === undefined || threads === undefined) return undefined
    return { rssBytes: Number(rssKiB) * 1024, fds, threads: Number(threads) }
  } catch {
    return undefined
  }
}

export async function childProcessIds(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) =>
      readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''),
    ),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

export function readCommandLine(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
}
