import type { Query, Session } from './pool.ts'
import type { Running } from './transaction.ts'

export type Parameters = Readonly<Record<string, unknown>>

/** A statement prepared once on each connection, its parameters `:named`. */
export type Statement<Row> = {
  readonly all: (on: Runner, parameters: Parameters) => Promise<readonly Row[]>
  readonly first: (on: Runner, parameters: Parameters) => Promise<Row | undefined>
  /** @returns how many rows were changed. */
  readonly run: (on: Runner, parameters: Parameters) => Promise<number>
  /** Sends it without waiting for its end, see `Running`. */
  readonly send: (on: Pick<Running, 'send'>, parameters: Parameters) => void
}

export type Runner = Pick<Session, 'run'>

/** The caller states the type of the rows: the SQL beside it is where that can be checked. */
export function prepare<Row>(sql: string): Statement<Row> {
  const names: string[] = []
  const text = sql.replaceAll(/(?<!:):([a-z]\w*)/giu, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const query = (parameters: Parameters): Query => ({
    text,
    name: nameOf(text),
    values: names.map((name) => parameters[name]),
  })
  const all = async (on: Runner, parameters: Parameters) =>
    (await on.run(query(parameters))).rows as readonly Row[]
  return {
    all,
    first: async (on, parameters) => (await all(on, parameters))[0],
    run: async (on, parameters) => (await on.run(query(parameters))).count,
    send: (on, parameters) => on.send(query(parameters)),
  }
}

/** Texts that are prepared; kysely asks for the same few dozen again and again. */
const namedMax = 500
const names = new Map<string, string>()

/** A name for a text; undefined when there are too many: then it is prepared each time. */
export function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= namedMax) return known
  const name = `facegate_${names.size + 1}`
  names.set(text, name)
  return name
}
