import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Client } from 'pg'
import type { ReadTx } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { queryBuilder } from '../../../src/store/postgres/connection/kysely-driver.ts'
import { createMigratedDatabase } from '../database/engine.ts'
import { postgresSkipReason } from '../database/postgres-server.ts'

/** A statement of a read and its plan, one step per line. */
export type ExplainedStatement = { readonly sql: string; readonly plan: string }

/** Returns the statements of a read. They are not executed and find no rows. */
export type ExplainRead = (
  read: (tx: ReadTx) => Promise<unknown>,
) => Promise<readonly ExplainedStatement[]>

type Explainer = { readonly explain: ExplainRead; readonly isPostgres: boolean }

/**
 * Runs a test with the plans of an empty SQLite database, which has no statistics like a real one, and
 * with those of PostgreSQL, which may sort or read a whole table only if no index prevents it.
 */
export async function onBothEngines(work: (explainer: Explainer) => Promise<void>): Promise<void> {
  await onSqlite(work)
  if (postgresSkipReason === undefined) await onPostgres(work)
}

/** Does the same on SQLite. */
export async function onSqlite(work: (explainer: Explainer) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-plans-'))
  const store = await openStore(dataDir)
  const connection = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  const planOf = (sql: string, parameters: readonly unknown[]) =>
    connection
      .prepare(`explain query plan ${sql}`)
      .all(...(parameters as SQLInputValue[]))
      .map(({ detail }) => String(detail))
  try {
    await work({ isPostgres: false, explain: explainer(store.db, planOf) })
  } finally {
    connection.close()
    await store.close()
    await rm(dataDir, { recursive: true })
  }
}

const indexPlans = ['seqscan', 'sort', 'incremental_sort', 'bitmapscan', 'hashjoin', 'mergejoin']

async function onPostgres(work: (explainer: Explainer) => Promise<void>): Promise<void> {
  await using database = await createMigratedDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    for (const plan of indexPlans) await client.query(`set enable_${plan} = off`)
    await client.query(`select set_config('facegate.account', '*', false)`)
    const planOf = async (sql: string, parameters: readonly unknown[]) => {
      const { rows } = await client.query<Record<string, string>>(`explain (costs off) ${sql}`, [
        ...parameters,
      ])
      return rows.map((row) => row['QUERY PLAN'] ?? '')
    }
    await work({ isPostgres: true, explain: explainer(queryBuilder, planOf) })
  } finally {
    await client.end()
  }
}

function explainer(
  build: ReadTx['build'],
  planOf: (
    sql: string,
    parameters: readonly unknown[],
  ) => readonly string[] | Promise<readonly string[]>,
): ExplainRead {
  return async (read) => {
    const statements: ExplainedStatement[] = []
    await read({
      build,
      run: async (query) => {
        const { sql, parameters } = query.compile()
        statements.push({ sql, plan: (await planOf(sql, parameters)).join('\n') })
        return []
      },
    })
    assert.ok(statements.length > 0)
    return statements
  }
}

/** Explains reads of an account with these projects. */
export function withProjects(tx: ReadTx, projectIds: readonly string[]): ReadTx {
  return {
    ...tx,
    run: async <Row>(query: Parameters<typeof tx.run<Row>>[0]) => {
      const rows = await tx.run(query)
      const isProjects = query.compile().sql.startsWith('select "projectId" from "projects"')
      const projects = projectIds.map((projectId) => ({ projectId }))
      return isProjects ? (projects as unknown as readonly Row[]) : rows
    },
  }
}
