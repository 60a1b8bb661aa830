import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadTx } from '../../../src/store/database.ts'
import { findGroupNames, hasGroup, listGroups } from '../../../src/store/gallery/groups.ts'
import { stepRows } from '../../../src/store/lists.ts'
import { onBothEngines, onSqlite } from '../../support/plans/explain-reads.ts'
import { combine, sorted } from '../../support/plans/plan-checks.ts'

const unexpiredAtUtc = '2026'
const sourceOf = (tx: ReadTx): Parameters<typeof listGroups>[0] => ({
  read: async (job) => job(tx),
})

test('Groups are counted in steps of an index, from the last subject of the previous step', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    const filters = combine({
      name: [{}, { name: 'n' }],
      text: [undefined, 't'],
      isDescending: [false, true],
      after: [undefined, 'a'],
    })
    for (const { name, ...filter } of filters) {
      let step = 0
      // The first step is full, so that another follows.
      const full = [{ name: 'n', isListed: true, members: stepRows, lastId: 's' }]
      const plans = await explain(async (tx) =>
        listGroups(
          sourceOf({
            ...tx,
            run: async <Row>(query: Parameters<typeof tx.run<Row>>[0]) => {
              await tx.run(query)
              return (step++ === 0 ? full : []) as unknown as readonly Row[]
            },
          }),
          'g',
          { ...name, ...filter, unexpiredAtUtc },
        ),
      )
      assert.equal(plans.length, 2)
      for (const { sql, plan } of plans) {
        const description = `${sql}\n${plan}`
        // The limit is in the statement that reads subjects: others are not read.
        assert.match(sql, /limit \S+\) as "step" group by/u)
        assert.match(
          plan,
          /PRIMARY KEY \(galleryId=\?|Index Cond: \(*"galleryId" = 'g'/u,
          description,
        )
        const [rows = ''] = plan.split(/LIST SUBQUERY|SubPlan/u)
        if (!isPostgres) assert.doesNotMatch(rows.split('CO-ROUTINE')[1] ?? '', sorted, description)
      }
      const next = plans[1]
      assert.match(
        next?.plan ?? '',
        /subjectId[<>]\?|\(name,subjectId\)[<>]|"?subjectId"? [<>]|ROW\(/u,
        next?.plan,
      )
    }
  }))

test('A page of groups begins with a step of its size, and the steps grow', async () => {
  const limits: unknown[] = []
  const steps = [51, 510, stepRows, 1].map((members) => [
    { name: 'n', isListed: true, members, lastId: 's' },
  ])
  await onSqlite(async ({ explain }) => {
    await explain(async (tx) =>
      listGroups(
        sourceOf({
          ...tx,
          run: async <Row>(query: Parameters<typeof tx.run<Row>>[0]) => {
            await tx.run(query)
            limits.push(query.compile().parameters.find((value) => typeof value === 'number'))
            return steps[limits.length - 1] as unknown as readonly Row[]
          },
        }),
        'g',
        { limit: 50 },
      ),
    )
  })
  assert.deepEqual(limits, [51, 510, stepRows, stepRows])
})

test('A search for a group reads one subject of it, not all', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    for (const name of [undefined, 'n']) {
      const filter = { unexpiredAtUtc, ...(name !== undefined && { name }) }
      const [statement] = await explain((tx) => hasGroup(tx, 'g', filter))
      assert.match(statement?.sql ?? '', / limit \S+$/u)
      assert.doesNotMatch(statement?.sql ?? '', /count|group by|order by/u)
    }
    const found = await explain((tx) => findGroupNames(tx, 'g', ['n', 'o'], unexpiredAtUtc))
    assert.equal(found.length, 1)
    assert.match(found[0]?.plan ?? '', isPostgres ? /SubPlan/u : /CORRELATED SCALAR SUBQUERY/u)
    assert.doesNotMatch(found[0]?.plan ?? '', /Seq Scan on "?subjectGroups|Hash (?:Semi )?Join/u)
  }))
