import assert from 'node:assert/strict'
import type { ExplainedStatement } from './explain-reads.ts'

/** Returns all combinations of one value of each name. */
export function combine<const Values extends Readonly<Record<string, readonly unknown[]>>>(
  values: Values,
) {
  type Combination = { readonly [Name in keyof Values]: Values[Name][number] }
  let combinations: object[] = [{}]
  for (const [name, choices] of Object.entries(values))
    combinations = combinations.flatMap((one) =>
      choices.map((choice) => ({ ...one, [name]: choice })),
    )
  return combinations as Combination[]
}

/** A plan that sorts rows of a list. */
export const sorted = /TEMP B-TREE|(?:^|-> +)(?:Incremental )?Sort$/mu

/**
 * An account has few projects and ledgers; `counted` are the rows of a list, and `summed` and the
 * subqueries without a name those of a batch.
 */
const unbounded =
  /\bSCAN (?!counted\b|listed\b|summed\b|\(subquery|projects\b|ledgers\b)|Seq Scan on (?!projects\b)/u

/** A condition of an index on a column, alone or with the id that follows it. */
export const conditionOf = (column: string) =>
  String.raw`(?:SEARCH|Index Cond).*\b${column}"?(?:, ?"?\w+"?\))? ?[=<>]`

/** Asserts that an index has the order of a list, and that it finds the rows by all these columns. */
export function assertIndexed(
  statements: readonly ExplainedStatement[],
  columns: readonly string[],
): void {
  for (const { sql, plan } of statements) {
    const description = `${sql}\n${plan}`
    assert.doesNotMatch(plan, sorted, description)
    assert.doesNotMatch(plan, unbounded, description)
    for (const column of columns)
      assert.match(plan, new RegExp(conditionOf(column), 'u'), description)
  }
}

/**
 * Asserts that a page begins at its position and ends at its last one. SQLite reads an index between two
 * conditions: it would read and test all rows between a further condition and the position.
 */
export function assertBounded({ sql }: ExplainedStatement, order: string): void {
  const conditions = sql.split(' order by ')[0]?.split(/ where | and /u) ?? []
  for (const operator of ['<', '>']) {
    const isBound = new RegExp(`^\\(?"${order}"(?:, [^)]*\\))? ${operator}`, 'u')
    const bounds = conditions.filter((one) => isBound.test(one))
    assert.ok(bounds.length <= 1, `${sql}: ${bounds.join(', ')}`)
  }
}
