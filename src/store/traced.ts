import { bound, span } from '../lib/trace.ts'
import type { Store } from './database.ts'

/**
 * The store with the time of each transaction told to the call that asked for it, under the name
 * that the code has for the work. A job waits in a queue with those of other calls: it is bound to
 * its own, so that a line it logs is not taken for theirs.
 */
export function traced(store: Store): Store {
  const { write, change, read, findKey, claimAtOnce } = store
  return {
    ...store,
    findKey: (...asked) => span('database.read', () => findKey(...asked), { job: 'findKey' }),
    ...(claimAtOnce && {
      claimAtOnce: (asked) =>
        span('database.write', () => claimAtOnce(asked), { job: 'claimAtOnce' }),
    }),
    write: (job) => span('database.write', () => write(bound(job)), nameOf(job)),
    change: (job) => span('database.change', () => change(bound(job)), nameOf(job)),
    read: (job) => span('database.read', () => read(bound(job)), nameOf(job)),
  }
}

function nameOf({ name: job }: (...args: never[]) => unknown) {
  return job === '' ? {} : { job }
}
