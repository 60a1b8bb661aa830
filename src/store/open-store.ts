import { bindJobToCall, bindToCall, withSpan } from '../lib/observability/call-trace.ts'
import type { Store, StoreLocation, StoreOptions } from './database.ts'
import { withFewRows } from './delete-in-batches.ts'

/**
 * Opens a database and migrates it to the current schema.
 *
 * @param location a text is the data folder of an SQLite database.
 */
export async function openStore(location: StoreLocation | string, options: StoreOptions = {}) {
  return traceStore(await openUntraced(location, options))
}

/** Loads only the engine that is used, so that commands start quickly. */
async function openUntraced(location: StoreLocation | string, options: StoreOptions) {
  const { dataDir, databaseUrl, connectionsMax } =
    typeof location === 'string' ? { dataDir: location, databaseUrl: '' } : location
  if (databaseUrl === '') {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts')
    return openSqliteStore(dataDir, options)
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts')
  return openPostgresStore(databaseUrl, {
    ...options,
    ...(connectionsMax !== undefined && { connectionsMax }),
  })
}

/**
 * Returns the store with a span for each transaction in the trace of the current call. The span's
 * operation is the name of the job function. Jobs of several calls share a queue, so each job is
 * bound to its call: log lines of the job then carry that call's ids.
 */
function traceStore(store: Store): Store {
  const { write, runExclusive, read, findKey, findRememberedKey, admitCall, settleCall } = store
  return {
    ...store,
    findKey: (apiKey, now) =>
      withSpan('database.read', () => findKey(apiKey, now), { operation: 'findKey' }),
    findRememberedKey: (apiKey, now) =>
      withSpan('database.read', () => findRememberedKey(apiKey, now), { operation: 'findKey' }),
    admitCall: (input) =>
      withSpan('database.write', () => admitCall(input), { operation: 'admitCall' }),
    settleCall: (input) =>
      withSpan('database.write', () => settleCall(input), { operation: 'settleCall' }),
    write: (job) =>
      withFewRows(write, () =>
        withSpan('database.write', () => write(bindJobToCall(job)), jobAttributes(job)),
      ),
    runExclusive: (job, accountId) =>
      withFewRows(write, () => {
        const change = () => runExclusive(bindToCall(job), accountId)
        return withSpan('database.change', change, jobAttributes(job))
      }),
    read: (job) => withSpan('database.read', () => read(bindToCall(job)), jobAttributes(job)),
  }
}

function jobAttributes({ name: operation }: (...args: never[]) => unknown) {
  return operation === '' ? {} : { operation }
}
