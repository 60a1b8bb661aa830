import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely'

/** Prepared statements kept for reuse; kysely asks for the same few dozen texts again and again. */
const statementsMax = 500

/**
 * SQLite as the embedded store needs it: `synchronous=FULL`, because in power cuts NORMAL lost
 * acknowledged commits; `secure_delete`, because a deleted template must not stay in a free page.
 */
export function openSqlite(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 2000 })
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
  `)
  return database
}

/** kysely over `node:sqlite`, which it has no dialect for: the interface of its SQLite one fits. */
export function sqliteDialect(database: DatabaseSync): SqliteDialect {
  const statements = new Map<string, SqliteStatement>()
  const adapted: SqliteDatabase = {
    close: () => database.close(),
    prepare: (sql) => {
      const known = statements.get(sql)
      if (known) return known
      if (statements.size >= statementsMax) statements.clear()
      const statement = adapt(database.prepare(sql))
      statements.set(sql, statement)
      return statement
    },
  }
  return new SqliteDialect({ database: adapted })
}

function adapt(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bindable(parameters)),
    run: (parameters) => statement.run(...bindable(parameters)),
    iterate: (parameters) => statement.iterate(...bindable(parameters)),
  }
}

/** kysely hands parameters over as `unknown`; SQLite itself refuses what it cannot bind. */
function bindable(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[]
}
