import { Client } from 'pg'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { hexText, type RunBatched } from '../../../src/store/postgres/connection/batcher.ts'
import { getTypeParser, readRows } from '../../../src/store/postgres/connection/values.ts'
import { createMigratedDatabase } from '../database/engine.ts'

export type RuleRow = Readonly<Record<string, unknown>>

/** A database on PostgreSQL in which thousands of cases are compared with a rule, and rolled back. */
export type RuleDatabase = AsyncDisposable & {
  /** Runs work in a transaction of all accounts, which is rolled back. */
  readonly inRollback: <T>(work: () => Promise<T>) => Promise<T>
  /** Runs work within a transaction, and rolls back only what it wrote. */
  readonly inSavepoint: <T>(work: () => Promise<T>) => Promise<T>
  readonly insert: (table: string, rows: readonly RuleRow[]) => Promise<void>
  readonly query: (text: string, values?: readonly unknown[]) => Promise<readonly RuleRow[]>
  /**
   * Sends lists of inputs by one of the product's functions, all in one statement.
   *
   * @param send sends an input with a function that only collects it.
   * @returns the results, as the product's function returns them.
   */
  readonly runLists: <Input, Result>(
    lists: readonly (readonly Input[])[],
    send: (runBatched: RunBatched, input: Input) => Promise<Result>,
  ) => Promise<readonly (readonly Result[])[]>
}

export const ruleAccountId = 'account'

/**
 * All rows are rolled back. If autovacuum analyzes the tables meanwhile, they are planned as empty, and
 * each statement reads the rows of all rolled back transactions: 260 s instead of 15 s.
 */
const withoutAutovacuum = `do $$ declare name text; begin
    for name in select relname from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace
    loop execute format('alter table %I set (autovacuum_enabled = off)', name); end loop;
  end $$`

export async function openRuleDatabase(): Promise<RuleDatabase> {
  const database = await createMigratedDatabase()
  const client = new Client({ connectionString: database.url, types: { getTypeParser } })
  await client.connect()
  await client.query(withoutAutovacuum)
  const query: RuleDatabase['query'] = async (text, values = []) =>
    readRows(await client.query(text, [...values]))
  return {
    query,
    inRollback: async (work) => {
      await client.query(`begin; set local facegate.account = '*'`)
      try {
        return await work()
      } finally {
        await client.query('rollback')
      }
    },
    inSavepoint: async (work) => {
      await client.query('savepoint work')
      try {
        return await work()
      } finally {
        await client.query('rollback to savepoint work')
      }
    },
    insert: async (table, rows) => {
      const [first] = rows
      if (!first) return
      const columns = Object.keys(first).map((column) => `"${column}"`)
      await client.query(
        `insert into "${table}" (${columns.join()}) select ${columns.join()}
         from json_populate_recordset(null::"${table}", $1::json)`,
        [toJson(rows)],
      )
    },
    runLists: async (lists, send) => {
      const collected = lists.map((inputs) => collect(inputs, send))
      const text = collected.find(({ jobs }) => jobs.length > 0)?.jobs[0]?.statement.text
      if (text === undefined) return collected.map(() => [])
      const call = text.replace('select * from ', '').replace('$1', 'l.input')
      const rows = await query(
        `select l.list, a.* from unnest($1::text[]) with ordinality as l(input, list),
           lateral ${call} as a`,
        [
          collected.map(({ jobs }) =>
            toJson(jobs.map(({ input }, index) => ({ index, ...input }))),
          ),
        ],
      )
      for (const [index, { jobs }] of collected.entries()) {
        const found = rows.filter(({ list }) => list === index + 1)
        for (const [place, { resolve }] of jobs.entries())
          resolve(found.find((row) => row['index'] === place))
      }
      return Promise.all(collected.map(({ results }) => Promise.all(results)))
    },
    [Symbol.asyncDispose]: async () => {
      await client.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

type CollectedJob = {
  readonly statement: Parameters<RunBatched>[1]
  readonly input: object
  readonly resolve: (row: unknown) => void
}

function collect<Input, Result>(
  inputs: readonly Input[],
  send: (runBatched: RunBatched, input: Input) => Promise<Result>,
) {
  const jobs: CollectedJob[] = []
  const runBatched: RunBatched = <R>(
    _name: string,
    statement: CollectedJob['statement'],
    input: object,
  ) =>
    new Promise<R | undefined>((resolve) => {
      // The statement defines the type of its rows.
      jobs.push({ statement, input, resolve: resolve as CollectedJob['resolve'] })
    })
  const results = inputs.map((input) => runAsAccount(ruleAccountId, () => send(runBatched, input)))
  return { jobs, results }
}

/** Money is a string, and bytes are hexadecimal digits, as PostgreSQL reads them. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, function replace(this: RuleRow, name, encoded: unknown) {
    const field = this[name] // `encoded` is already an object if the field has bytes.
    if (typeof field === 'bigint') return String(field)
    return field instanceof Uint8Array ? hexText(field) : encoded
  })
}
