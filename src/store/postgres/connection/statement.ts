import type { PostgresQuery, PostgresSession } from './pool.ts'
import type { PostgresTransaction } from './transaction.ts'

export type PostgresParameters = Readonly<Record<string, unknown>>

/** A statement prepared once on each connection, its parameters `:named`. */
export type PostgresStatement<Row> = {
  readonly all: (on: QueryRunner, parameters: PostgresParameters) => Promise<readonly Row[]>
  readonly first: (on: QueryRunner, parameters: PostgresParameters) => Promise<Row | undefined>
  /** @returns how many rows were changed. */
  readonly run: (on: QueryRunner, parameters: PostgresParameters) => Promise<number>
  /** Sends it without waiting for its end, see `Running`. */
  readonly send: (on: Pick<PostgresTransaction, 'send'>, parameters: PostgresParameters) => void
}

export type QueryRunner = Pick<PostgresSession, 'run'>

/** The caller states the type of the rows: the SQL beside it is where that can be checked. */
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

/** Texts that are prepared; kysely asks for the same few dozen again and again. */
const statementNamesMax = 500
const statementNames = new Map<string, string>()

/** A name for a text; undefined when there are too many: then it is prepared each time. */
export function statementName(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined || statementNames.size >= statementNamesMax) return known
  const name = `facegate_${statementNames.size + 1}`
  statementNames.set(text, name)
  return name
}
