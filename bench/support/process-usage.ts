import { readFile } from 'node:fs/promises'

const ticksPerS = 100

/** Returns the CPU time of a process and all its threads in ms, in steps of 10 ms. Linux only. */
export async function readCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program is in brackets and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerS) * 1000
}

/** Returns the resident memory of a process in bytes. Linux only. */
export async function readRssBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024
}
