import { bindToCall, withSpan } from '../lib/observability/call-trace.ts'
import type { Store } from './database.ts'

/**
 * The store with the time of each transaction told to the call that asked for it, under the name
 * that the code has for the work. A job waits in a queue with those of other calls: it is bound to
 * its own, so that a line it logs is not taken for theirs.
 */
export function traceStore(store: Store): Store {
  const { write, runExclusive: change, read, findKey, admitInOneStatement: claimAtOnce } = store
  return {
    ...store,
    findKey: (...asked) =>
      withSpan('database.read', () => findKey(...asked), { operation: 'findKey' }),
    ...(claimAtOnce && {
      admitInOneStatement: (asked) =>
        withSpan('database.write', () => claimAtOnce(asked), { operation: 'claimAtOnce' }),
    }),
    write: (job) => withSpan('database.write', () => write(bindToCall(job)), jobAttributes(job)),
    runExclusive: (job) =>
      withSpan('database.change', () => change(bindToCall(job)), jobAttributes(job)),
    read: (job) => withSpan('database.read', () => read(bindToCall(job)), jobAttributes(job)),
  }
}

function jobAttributes({ name: operation }: (...args: never[]) => unknown) {
  return operation === '' ? {} : { operation }
}
