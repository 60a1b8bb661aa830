import assert from 'node:assert/strict'
import { dayMs, dayOf, formatUtc } from '../../../../src/lib/clock.ts'
import { mapSequential } from '../../../../src/lib/account-context.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  now,
  nowMs,
  type StoreFixture,
} from '../store-fixture.ts'

async function prepare(fixture: StoreFixture) {
  const { store, project, accountId } = fixture
  const { projectId } = project
  await createProjectGallery(fixture)
  for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
  const shared = { accountId, name: 'other', galleryMode: 'shared' } as const
  const other = await queries.createProject(store.db, shared, now)
  const set = (id: string, matchDays: boolean) =>
    queries.updateProject(store.db, id, { switches: { matchDays } })
  for (const id of [projectId, other.projectId]) await set(id, true)
  const count = (day: string, subjectIds: readonly string[], of = projectId) =>
    store.write((tx) => queries.countMatches(tx, { projectId: of, day, subjectIds }))
  const listed = (subjectId: string) =>
    store.read(async (tx) =>
      (await queries.listMatchDays(tx, subjectId)).map(({ day, matches, ...row }) => {
        return `${row.projectId === projectId ? 'own' : 'other'} ${day} ${matches}`
      }),
    )
  const deleteEnded = (limit = 500) =>
    store.write((tx) => queries.deleteEndedMatchDays(tx, nowMs, limit))
  return { projectId, otherId: other.projectId, set, count, listed, deleteEnded }
}

export const matchDaysContract = {
  'matches are counted by day, subject and project, while the project counts them': async (
    fixture: StoreFixture,
  ) => {
    const { projectId, otherId, set, count, listed, deleteEnded } = await prepare(fixture)
    await count('2026-03-03', ['s-2', 's-1', 's-2', 'unknown'])
    await count('2026-03-03', ['s-1'])
    await count('2026-03-04', ['s-1'])
    await count('2026-03-03', ['s-1'], otherId)
    await count('2026-03-04', [])
    assertSameValues((await listed('s-1')).toSorted(), [
      'other 2026-03-03 1',
      'own 2026-03-03 2',
      'own 2026-03-04 1',
    ])
    assertSameValues(await listed('s-2'), ['own 2026-03-03 1'])
    await set(projectId, false)
    await count('2026-03-04', ['s-1'])
    assertSameValues(await listed('s-1'), ['other 2026-03-03 1'], 'before the rows are deleted')
    assertSameValues([await deleteEnded(2), await deleteEnded(2)], [2, 1], 'in batches')
    await set(projectId, true)
    assertSameValues(await listed('s-1'), ['other 2026-03-03 1'])
    await fixture.store.write((tx) => queries.removeSubject(tx, 's-1'))
    assertSameValues(await listed('s-1'), [])
  },

  'matches of days are kept for 90 days': async (fixture: StoreFixture) => {
    const { count, listed, deleteEnded } = await prepare(fixture)
    const dayBefore = (days: number) => dayOf(formatUtc(nowMs - days * dayMs))
    assert.equal(dayBefore(0), '2026-03-04')
    await mapSequential([0, 89, 90, 91], (days) => count(dayBefore(days), ['s-1']))
    assert.equal(await deleteEnded(), 2)
    assertSameValues(await listed('s-1'), [`own ${dayBefore(89)} 1`, `own ${dayBefore(0)} 1`])
    await fixture.store.db.updateTable('projects').set({ isFrozen: 1 }).execute()
    const later = nowMs + dayMs
    assert.equal(
      await fixture.store.write((tx) => queries.deleteEndedMatchDays(tx, later, 500)),
      0,
      'nothing of a frozen project is deleted',
    )
  },

  'matches of days move to another subject, as far as they are still there': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { count, listed, deleteEnded, set } = await prepare(fixture)
    for (const [day, subjectId, times] of [
      ['2026-03-01', 's-1', 2],
      ['2026-03-02', 's-1', 1],
      ['2026-03-02', 's-2', 3],
    ] as const)
      for (let call = 0; call < times; call++) await count(day, [subjectId])
    const move = (from: string, to: string, days: Awaited<ReturnType<typeof daysOf>>) =>
      store.write((tx) => queries.moveMatchDays(tx, { from, to, days }))
    const daysOf = (subjectId: string) => store.read((tx) => queries.listMatchDays(tx, subjectId))
    const days = await daysOf('s-1')
    await move('s-1', 's-2', days)
    assertSameValues(
      [await listed('s-1'), await listed('s-2')],
      [[], ['own 2026-03-01 2', 'own 2026-03-02 4']],
    )
    await move('s-2', 's-1', days)
    assertSameValues(
      [await listed('s-1'), await listed('s-2')],
      [['own 2026-03-01 2', 'own 2026-03-02 1'], ['own 2026-03-02 3']],
    )
    await set(project.projectId, false)
    await deleteEnded()
    await set(project.projectId, true)
    await count('2026-03-01', ['s-2'])
    await move('s-2', 's-1', days)
    assertSameValues([await listed('s-1'), await listed('s-2')], [[], ['own 2026-03-01 1']])
  },
}
