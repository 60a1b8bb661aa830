import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countUnseenSubjects, findUnseenSubjects } from '../../src/store/gallery/subjects.ts'
import {
  countProjectVisitors,
  countVisitors,
  findProjectVisitors,
  findVisitors,
} from '../../src/store/gallery/visitors.ts'
import { onBothEngines, type ExplainedStatement } from '../support/database/explain-reads.ts'

/** Returns all combinations of one value of each name. */
function combine<const Values extends Readonly<Record<string, readonly unknown[]>>>(
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

/** Asserts that an index has the order of a list, and that it finds the rows by all these columns. */
function assertIndexed(
  statements: readonly ExplainedStatement[],
  columns: readonly string[],
): void {
  for (const { sql, plan } of statements) {
    const description = `${sql}\n${plan}`
    assert.doesNotMatch(plan, /TEMP B-TREE|\bSCAN (?!counted\b)|\bSort\b|Seq Scan/u, description)
    for (const column of columns) {
      const condition = String.raw`\b${column}"?(?:, ?"?\w+"?\))? ?[=<>]`
      assert.match(plan, new RegExp(`(?:SEARCH|Index Cond).*${condition}`, 'u'), description)
    }
  }
}

test('Each list of visitors reads only its own rows, in their order', () =>
  onBothEngines(async ({ explain }) => {
    const orders = combine({
      isIgnored: [undefined, true, false],
      sortBy: ['visitCount', 'lastSeenAtUtc'],
      isDescending: [false, true],
      isFirst: [true, false],
    })
    for (const { isFirst, ...order } of orders) {
      const { isIgnored, sortBy } = order
      const value = sortBy === 'visitCount' ? 5 : '2026'
      const page = { galleryId: 'g', after: isFirst ? undefined : { value, subjectId: 's' } }
      const columns = ['galleryId', ...(isIgnored === undefined ? [] : ['isIgnored'])]
      assertIndexed(
        await explain((tx) => findVisitors(tx, { ...page, limit: 51, ...order })),
        isFirst ? columns : [...columns, sortBy],
      )
      assertIndexed(
        await explain((tx) => countVisitors(tx, { galleryId: 'g', isIgnored })),
        columns,
      )
    }
  }))

test('The subjects and the visitors that retention deletes are found by an index', () =>
  onBothEngines(async ({ explain }) => {
    const filter = { projectId: 'p', beforeUtc: '2026' }
    const page = { ...filter, limit: 9 }
    for (const [find, count, index] of [
      [findUnseenSubjects, countUnseenSubjects, 'subjects_unseen'],
      [findProjectVisitors, countProjectVisitors, 'visitors_unseen'],
    ] as const) {
      const found = await explain((tx) => find(tx, page))
      const counted = await explain((tx) => count(tx, filter))
      assertIndexed([...found, ...counted], ['projectId', 'lastSeenAtUtc'])
      // It contains no other rows.
      for (const { plan } of [...found, ...counted])
        assert.match(plan, new RegExp(` ${index} `, 'u'))
    }
  }))
