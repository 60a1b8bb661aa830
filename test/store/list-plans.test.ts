import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findDeliveries } from '../../src/store/webhooks/deliveries.ts'
import type { ReadTx } from '../../src/store/database.ts'
import {
  countSubjects,
  readSubjects,
  type SubjectSource,
} from '../../src/store/gallery/search/search-subjects.ts'
import {
  countUnexpiredFaces,
  countUnexpiredSubjects,
} from '../../src/store/gallery/expired-subjects.ts'
import { countDeletions, findDeletions } from '../../src/store/gallery/deletions.ts'
import {
  countUnseenSubjects,
  findExpiredSubjects,
  findStepEnd,
  findSubjectPositions,
  findSubjects,
  findUnseenSubjects,
} from '../../src/store/gallery/subjects.ts'
import {
  countProjectVisitors,
  countVisitors,
  findProjectVisitors,
  findVisitors,
} from '../../src/store/gallery/visitors.ts'
import { readCalls, searchCalls, type CallFilter } from '../../src/store/gate/calls.ts'
import { onBothEngines, onSqlite } from '../support/plans/explain-reads.ts'
import {
  assertBounded,
  assertIndexed,
  combine,
  conditionOf,
  sorted,
} from '../support/plans/plan-checks.ts'

/** A database whose reads are one after another in the event loop. */
const sourceOf = (tx: ReadTx): SubjectSource => ({ read: async (job) => job(tx), isShared: false })

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

test('The visitors of a project are counted in an index, without reading their rows', () =>
  onSqlite(async ({ explain }) => {
    for (const beforeUtc of [undefined, '2026']) {
      const filter = { projectId: 'p', ...(beforeUtc !== undefined && { beforeUtc }) }
      for (const { plan } of await explain((tx) => countProjectVisitors(tx, filter)))
        assert.match(plan, / COVERING INDEX visitors_unseen /u)
    }
  }))

test('Expired subjects are found by an index, those of a project and those of a gallery', () =>
  onBothEngines(async ({ explain }) => {
    const ofProject = { projectId: 'p', beforeUtc: '2026', limit: 9 }
    const found = await explain((tx) => findExpiredSubjects(tx, ofProject))
    assertIndexed(found, ['projectId', 'expiresAtUtc'])
    const ofGallery = { galleryId: 'g', nowUtc: '2026' }
    const subjects = await explain((tx) => countUnexpiredSubjects(tx, ofGallery))
    const faces = await explain((tx) => countUnexpiredFaces(tx, ofGallery))
    for (const { plan } of [...found, ...subjects, ...faces])
      assert.match(plan, /(?:SEARCH|Index Cond).*"?expiresAtUtc"?\)? ?<=?/u)
  }))

test('Each list of deletion records is read in its order, between its position and its period', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    const filters = combine({
      scope: ['galleryId', 'accountId'],
      subjectId: [undefined, 's'],
      externalId: [undefined, 'e'],
      fromUtc: [undefined, '2026'],
      toUtc: [undefined, '2028'],
      isAscending: [false, true],
      isFirst: [true, false],
    })
    for (const { scope, isFirst, ...filter } of filters) {
      const { subjectId, externalId, isAscending: _isAscending, ...times } = filter
      const conditions = { [scope]: 'x', ...filter } as { galleryId: string } & typeof filter
      const after = isFirst ? undefined : (['2027', 1] as const)
      const page = await explain((tx) => findDeletions(tx, { ...conditions, after, limit: 51 }))
      const count = await explain((tx) => countDeletions(tx, conditions))
      for (const statement of isPostgres ? [] : [...page, ...count])
        assertBounded(statement, 'deletedAtUtc')
      if (subjectId !== undefined) {
        // The few records of a subject are sorted.
        for (const { plan } of isPostgres ? [] : [...page, ...count])
          assert.match(plan, new RegExp(conditionOf('subjectId'), 'u'))
        continue
      }
      const columns = [scope, ...(externalId === undefined ? [] : ['externalId'])]
      // The records of one person are not limited by a period.
      const isPeriod = externalId === undefined && Object.values(times).join('') !== ''
      assertIndexed(count, [...columns, ...(isPeriod ? ['deletedAtUtc'] : [])])
      assertIndexed(page, [...columns, ...(isPeriod || after ? ['deletedAtUtc'] : [])])
    }
  }))

test('Each list of subjects is read in its order, from its position to the end of the step', () =>
  onBothEngines(async ({ explain }) => {
    const filters = combine({
      by: ['createdAtUtc', 'updatedAtUtc', 'lastSeenAtUtc', 'searchText'],
      isDescending: [false, true],
      createdFromUtc: [undefined, '2026'],
      createdToUtc: [undefined, '2028'],
      isFirst: [true, false],
      isLast: [true, false],
      condition: [{}, { text: 't' }, { group: 'g' }, { attribute: { name: 'n', value: 'v' } }],
    })
    for (const { by, isDescending, isFirst, isLast, condition, ...times } of filters) {
      const position = { value: '2027', subjectId: 's' }
      const after = isFirst ? undefined : position
      const sort = { by, isDescending }
      const filter = { galleryId: 'g', unexpiredAtUtc: '2026', ...times, ...condition, sort, after }
      const upTo = isLast ? undefined : position
      const limit = 51
      const statements = [
        ...(await explain((tx) => findStepEnd(tx, { ...filter, limit }, 5000))),
        ...(await explain((tx) => findSubjectPositions(tx, { ...filter, upTo, limit }))),
        ...(await explain((tx) => findSubjects(tx, { ...filter, limit }))),
      ]
      for (const statement of statements) assertBounded(statement, by)
      assertIndexed(statements, ['galleryId', ...(after ? [by] : [])])
      // A step ends after a number of rows, whether or not they match.
      if (by !== 'createdAtUtc') assert.doesNotMatch(statements[0]?.sql ?? '', /"createdAtUtc"/u)
    }
  }))

test('Subjects of a group, with an attribute or of another period are found by ids or in steps', () =>
  onSqlite(async ({ explain }) => {
    const sort = { by: 'updatedAtUtc', isDescending: true } as const
    const indexes = [
      [{ group: 'g' }, / subjectGroups USING PRIMARY KEY \(galleryId=\? AND name=\?\)/u],
      [
        { attribute: { name: 'n', value: 'v' } },
        / subjectAttributes USING PRIMARY KEY \(galleryId=\? AND name=\? AND value=\?\)/u,
      ],
      [{ text: 't' }, /COVERING INDEX subjects_by_update \(galleryId=\?\)/u],
      [{ createdFromUtc: '2026' }, /COVERING INDEX subjects_by_update \(galleryId=\?\)/u],
      [{ createdToUtc: '2026' }, /COVERING INDEX subjects_by_update \(galleryId=\?\)/u],
      [
        { group: 'g', externalId: 'e' },
        /one_subject_per_external_id \(galleryId=\? AND externalId=\?\)/u,
      ],
      [{}, /COVERING INDEX subjects_by_update \(galleryId=\?\)/u],
    ] as const
    for (const [condition, index] of indexes) {
      const filter = { galleryId: 'g', ...condition, limit: 51 }
      const [list] = await explain((tx) =>
        readSubjects(sourceOf(tx), { ...filter, sort }, async () => []),
      )
      assert.match(list?.plan ?? '', index)
      const isStepped =
        'text' in condition || 'createdFromUtc' in condition || 'createdToUtc' in condition
      assert.equal(list?.sql.includes(' offset '), isStepped)
      const [count] = await explain((tx) => countSubjects(sourceOf(tx), filter))
      assert.match(count?.plan ?? '', / SEARCH|^SEARCH|COVERING/u)
      if ('group' in condition || 'attribute' in condition) assert.match(count?.plan ?? '', index)
    }
  }))

test('Each list of deliveries reads only deliveries with its state and its type, in their order', () =>
  onBothEngines(async ({ explain }) => {
    const filters = combine({
      state: [undefined, 'failed'],
      type: [undefined, 'call.failed'],
      isAscending: [false, true],
      after: [undefined, { createdAtMs: 5, eventId: 'e' }],
    })
    for (const { state, type, after, isAscending } of filters) {
      const page = { webhookId: 'w', state, type, isAscending, after, limit: 51 }
      const found = await explain((tx) => findDeliveries(tx, page))
      assert.equal(found.length, state === undefined ? 3 : 1)
      const typeColumns = type === undefined ? [] : ['type']
      assertIndexed(found, [
        'webhookId',
        'state',
        ...typeColumns,
        ...(after ? ['createdAtMs'] : []),
      ])
    }
  }))

const logFilters = combine({
  indexed: [{ keyId: 'k' }, { projectId: 'p' }, { projectId: 'p', action: 'a' }],
  decided: [
    {},
    { code: 'NO_FACE_FOUND' },
    { result: 'failed' },
    { outcome: 'match' },
    { outcome: 'spoof' },
    { nearMiss: true },
  ],
  fromMs: [undefined, 1],
  toMs: [undefined, 9],
  isAscending: [false, true],
})

// PostgreSQL reads the log in one step, and selects an index by its statistics.
test('Each step of the request log is read in its order, from its position to its end', () =>
  onSqlite(async ({ explain }) => {
    for (const { indexed, decided, isAscending, ...times } of logFilters)
      for (const after of [undefined, { atMs: 5, callId: 1 }])
        for (const upTo of [undefined, { atMs: 6, callId: 2 }]) {
          const order = { isAscending, after, upTo }
          const filter = { accountId: 'a', ...indexed, ...decided, ...times, ...order }
          const [part] = await explain((tx) => readCalls(tx, { ...filter, limit: 51 }))
          assert.ok(part)
          assertBounded(part, 'atMs')
          assert.doesNotMatch(part.plan, sorted, part.sql)
          const isLimited = (after ?? upTo ?? times.fromMs ?? times.toMs) !== undefined
          // The steps of a key and of a project are counted in their indexes.
          const counted = Object.keys(indexed).filter((name) => name !== 'action')
          if (isLimited) assertIndexed([part], ['atMs', ...counted])
        }
  }))

test('A step of the request log ends after a number of rows, whatever it searches', () =>
  onSqlite(async ({ explain }) => {
    for (const { indexed, decided, isAscending, ...times } of logFilters) {
      const filter: CallFilter = { ...indexed, ...decided, ...times, isAscending, limit: 51 }
      const [end] = await explain((tx) =>
        searchCalls(
          { read: async (job) => job(tx), isShared: false },
          { accountId: 'a', ...filter },
        ),
      )
      assert.ok(end)
      assert.match(end.sql, / offset /u)
      // It has only the conditions of its index.
      assert.doesNotMatch(end.sql, /"accountId"|\+/u)
      assert.match(
        end.plan,
        /^SEARCH calls USING (?:COVERING INDEX|INDEX calls_(?:failed_by_time|near_miss)) /u,
        end.sql,
      )
    }
  }))
