import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { currentCallAttributes } from '../../../src/lib/observability/call-trace.ts'

type AnyMethod = (this: unknown, ...parameters: unknown[]) => unknown
/** The methods of a prototype by their names. */
export type Methods = Record<string, AnyMethod | undefined>

/** The SQL statements of calls that this process ran, and the rows that they returned. */
export type StatementCounts = {
  readonly statements: number
  readonly rows: number
  readonly texts: readonly string[]
}

/**
 * Counts the SQL statements of calls that this process runs, on both engines. The periodic work of a
 * server is not counted. `stop` returns the counts.
 */
export function countStatements(): { readonly stop: () => StatementCounts } {
  let statements = 0
  let rows = 0
  const texts: string[] = []
  const addRows = (result: unknown): void => {
    if (result instanceof Promise) void result.then(addRows, () => undefined)
    else if (Array.isArray(result)) rows += result.length
    else if (typeof result === 'object' && result !== null && 'rows' in result) addRows(result.rows)
  }
  const methods = [
    ...['all', 'get', 'run', 'iterate'].map((name) => [StatementSync.prototype, name] as const),
    [Client.prototype, 'query'] as const,
  ]
  const restore = methods.map(([prototype, name]) => {
    // The prototypes have methods under these names.
    const owner = prototype as unknown as Methods
    const original = owner[name]
    owner[name] = function countedCall(...parameters) {
      const result = original?.apply(this, parameters)
      if (currentCallAttributes().requestId === undefined) return result
      statements += 1
      addRows(result)
      texts.push(
        this instanceof StatementSync
          ? this.sourceSQL
          : String(Object(parameters[0]).text ?? parameters[0]),
      )
      return result
    }
    return () => (owner[name] = original)
  })
  return {
    stop: () => {
      for (const undo of restore) undo()
      return { statements, rows, texts }
    },
  }
}

/**
 * Counts the statements of one call while no other call runs. A group commit of SQLite runs in the
 * context of its first job: if that is other work, such as a delivery, the grouped statements of the
 * call are not counted as its own. The call is then repeated.
 */
export async function countCallStatements(call: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const counting = countStatements()
    await call()
    const { statements, texts } = counting.stop()
    if (groupedStatements.every((pattern) => texts.some((text) => pattern.test(text))))
      return statements
  }
}

/** The admission of a call and its count, on SQLite and on PostgreSQL. */
const groupedStatements = [
  /^insert into attempts|"admitCalls"/u,
  /^insert into callHours|"settleCalls"/u,
]
