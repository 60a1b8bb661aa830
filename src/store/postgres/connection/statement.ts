import type { PostgresQuery, PostgresSession } from './pool.ts'
import type { PostgresTransaction } from './transaction.ts'

export type PostgresParameters = Readonly<Record<string, unknown>>

/** A statement with `:named` parameters, prepared once on each connection. */
export type PostgresStatement<Row> = {
  readonly all: (on: QueryRunner, parameters: PostgresParameters) => Promise<readonly Row[]>
  readonly first: (on: QueryRunner, parameters: PostgresParameters) => Promise<Row | undefined>
  /** @returns the number of changed rows. */
  readonly run: (on: QueryRunner, parameters: PostgresParameters) => Promise<number>
  /** Sends the statement without waiting for its result, see `PostgresTransaction`. */
  readonly send: (on: Pick<PostgresTransaction, 'send'>, parameters: PostgresParameters) => void
}

export type QueryRunner = Pick<PostgresSession, 'run'>

/** Prepares a statement. The caller declares the type of the rows, next to the SQL that defines it. */
export function prepare<Row>(sql: string): PostgresStatement<Row> {
  const names: string[] = []
  const text = sql.replaceAll(/(?<!:):([a-z]\w*)/giu, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const query = (parameters: PostgresParameters): PostgresQuery => ({
    text,
    name: statementName(text),
    values: names.map((name) => parameters[name]),
  })
  const all = async (on: QueryRunner, parameters: PostgresParameters) =>
    (await on.run(query(parameters))).rows as readonly Row[]
  return {
    all,
    first: async (on, parameters) => (await all(on, parameters))[0],
    run: async (on, parameters) => (await on.run(query(parameters))).count,
    send: (on, parameters) => on.send(query(parameters)),
  }
}

/** The maximum number of prepared texts. Kysely repeats a few dozen texts. */
const statementNamesMax = 500
const statementNames = new Map<string, string>()

/** Returns a name for a text; undefined if there are too many: the text is then not prepared. */
export function statementName(text: string): string | undefined {
  const existing = statementNames.get(text)
  if (existing !== undefined || statementNames.size >= statementNamesMax) return existing
  const name = `facegate_${statementNames.size + 1}`
  statementNames.set(text, name)
  return name
}
