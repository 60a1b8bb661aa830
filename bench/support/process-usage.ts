import { readdir, readFile } from 'node:fs/promises'

const ticksPerS = 100

/** Returns the CPU time of a process and all its threads in ms, in steps of 10 ms. Linux only. */
export async function readCpuMs(pid: number): Promise<number> {
  const fields = await readStat(pid)
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerS) * 1000
}

/** Returns the CPU time in ms of each running thread of a process, by the thread's id. Linux only. */
export async function readThreadCpuMs(pid: number): Promise<ReadonlyMap<number, number>> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = threads.map(async (id): Promise<[number, number]> => {
    try {
      const [nanoseconds] = (await readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8')).split(' ')
      return [Number(id), Number(nanoseconds) / 1e6]
    } catch {
      return [Number(id), 0] // The thread has ended.
    }
  })
  return new Map(await Promise.all(times))
}

/** Returns the parent of a process. Linux only. */
export async function readParentPid(pid: number): Promise<number> {
  return Number((await readStat(pid))[1])
}

/** Returns the CPU time of a process and its running children in ms. Linux only. */
export async function readFamilyCpuMs(parent: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name)).map(Number)
  const times = pids.map(async (pid) => {
    try {
      const isMember = pid === parent || (await readParentPid(pid)) === parent
      return isMember ? await readCpuMs(pid) : 0
    } catch {
      return 0 // The process has ended.
    }
  })
  return (await Promise.all(times)).reduce((sum, cpuMs) => sum + cpuMs, 0)
}

/** Returns the fields after the name of the program: the state, the parent, … */
async function readStat(pid: number): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program is in brackets and may contain spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Returns the resident memory of a process in bytes. Linux only. */
export async function readRssBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024
}
