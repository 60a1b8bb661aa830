import { unavailable } from './errors.ts'

/** Does the work of one name one after the other, and that of other names beside it. */
export type KeyedQueue = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Whoever comes later is told to come again, before its client has given up. */
const waitingMax = 1000

export function createKeyedQueue(): KeyedQueue {
  const lines = new Map<string, { waiting: number; last: Promise<unknown> }>()
  return async (name, work) => {
    const line = lines.get(name) ?? { waiting: 0, last: Promise.resolve() }
    if (line.waiting >= waitingMax) throw unavailable('Too many calls of the project wait.')
    lines.set(name, line)
    line.waiting++
    const turn = line.last.then(work)
    line.last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      if (--line.waiting === 0) lines.delete(name)
    }
  }
}
