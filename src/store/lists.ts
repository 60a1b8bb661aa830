import type { RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { listCountMax, toListCount, type ListCount } from '../lib/limits/list-limits.ts'
import { sql } from './load-kysely.ts'
import type { ReadTx } from './tx.ts'

/** Counts the rows of a list, at most `listCountMax`. */
export async function countListed<Tables, Name extends keyof Tables, Row>(
  tx: ReadTx,
  rows: SelectQueryBuilder<Tables, Name, Row>,
): Promise<ListCount> {
  const counted = rows.limit(listCountMax + 1).as('counted')
  const query = tx.build.selectFrom(counted).select(({ fn }) => fn.countAll<number>().as('count'))
  return toListCount((await tx.run(query))[0]?.count ?? 0)
}

type ListPosition = {
  /** The column of the order, and the id that orders rows with equal values. */
  readonly columns: readonly [order: string, id: string]
  /** The values of these columns in the last row of the previous page. */
  readonly after: readonly [order: string | number, id: string | number]
  readonly isDescending: boolean
}

/** The condition of the rows after a position of a list. */
export function isAfter({ columns, after, isDescending }: ListPosition): RawBuilder<SqlBool> {
  const [order, id] = columns.map((column) => sql.ref(column))
  const direction = sql.raw(isDescending ? '<' : '>')
  return sql<SqlBool>`(${order}, ${id}) ${direction} (${after[0]}, ${after[1]})`
}
