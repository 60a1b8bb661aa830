import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import type { Methods } from './count-statements.ts'

/**
 * Records how many stored responses each statement of this process redacts, on both engines. The
 * callback receives each number before the caller of the statement; it may throw.
 */
export function recordRedactions(onRedacted: (count: number) => void) {
  return recordDeletions('responseSubjects', onRedacted)
}

/** Records how many rows of a table each statement deletes and returns. */
export function recordDeletions(
  table: string,
  onDeleted: (count: number) => void,
): Disposable & { readonly stop: () => void } {
  const record = (text: string, count: number): void => {
    if (text.startsWith(`delete from "${table}"`) && count > 0) onDeleted(count)
  }
  // The prototypes have methods under these names.
  const statements = StatementSync.prototype as unknown as Methods
  const clients = Client.prototype as unknown as Methods
  const { all } = statements
  const { query } = clients
  statements['all'] = function recordedAll(...parameters) {
    const result = all?.apply(this, parameters)
    if (this instanceof StatementSync && Array.isArray(result))
      record(this.sourceSQL, result.length)
    return result
  }
  clients['query'] = function recordedQuery(...parameters) {
    const result = query?.apply(this, parameters)
    if (!(result instanceof Promise)) return result
    return result.then((value: { readonly rowCount?: number | null }) => {
      record(String(Object(parameters[0]).text), value.rowCount ?? 0)
      return value
    })
  }
  const stop = (): void => {
    statements['all'] = all
    clients['query'] = query
  }
  return { stop, [Symbol.dispose]: stop }
}
