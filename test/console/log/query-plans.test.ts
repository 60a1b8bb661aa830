import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import { countAuditEntries, findAuditEntries } from '../../../src/store/console/audit-log.ts'
import { countCalls, countScores, findLatencies } from '../../../src/store/console/call-charts.ts'
import { countCallsByPrefix, countLoggedCalls, readCalls } from '../../../src/store/gate/calls.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { countDeletions, findDeletions } from '../../../src/store/gallery/deletions.ts'
import { findFewIds } from '../../../src/store/gallery/search/attribute-filter.ts'
import {
  findStepEnd,
  findSubjectPositions,
  findSubjects,
} from '../../../src/store/gallery/subjects.ts'
import { registerSumLatencies } from '../../../src/store/sqlite/hourly-counts.ts'
import {
  countTransfers,
  findTransfers,
  reconcile,
} from '../../../src/store/billing/ledger-transfers.ts'
import type { ReadTx } from '../../../src/store/database.ts'
import type { ListSource } from '../../../src/store/lists.ts'

/** A full scan of a table that grows with calls, years or subjects. No query may use one. */
const largeTableScan = /^SCAN (?:calls|t|deletions|auditLog|callHours|scoreHours)(?! USING)/u

test('No list filter and no chart scans a large table', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-plans-'))
  const store = await openStore(dataDir)
  const connection = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  registerSumLatencies(connection)
  const plans: string[] = []
  const reading: ReadTx = {
    build: store.db,
    run: async (query) => {
      const { sql, parameters } = query.compile()
      if (sql.startsWith('select set_config(')) return []
      const explain = connection.prepare(`explain query plan ${sql}`)
      const rows = explain.all(...(parameters as SQLInputValue[]))
      plans.push(...rows.map(({ detail }) => String(detail)))
      return []
    },
  }
  const sources = [false, true].map((isShared): ListSource => {
    return { read: async (job) => job(reading), isShared }
  })
  const accountId = 'a'
  const times = { fromMs: 1, toMs: 2 }
  const logFilters: object[] = [
    {},
    { projectId: 'p' },
    { keyId: 'k' },
    { action: 'svc.detect' },
    { code: 'NO_FACE_FOUND' },
    { result: 'failed' },
    { outcome: 'no_match' },
    { outcome: 'match' },
    { nearMiss: true },
    { requestId: 'r' },
    { requestIdPrefix: 'abcd' },
    { after: { atMs: 1, callId: 1 } },
  ]
  for (const filter of logFilters) {
    await readCalls(reading, { accountId, limit: 50, ...filter })
    await readCalls(reading, { accountId, limit: 50, ...times, ...filter })
    await readCalls(reading, { accountId, limit: 50, isAscending: true, ...filter })
    for (const source of sources) {
      await countLoggedCalls(source, { accountId, ...filter })
      await countLoggedCalls(source, { accountId, ...times, ...filter })
    }
  }
  for (const filter of [{}, { projectId: 'p' }, { kind: 'charge' }, { kind: 'topUp' }] as const)
    for (const source of sources) {
      await findTransfers(source, { accountId, limit: 50, ...filter })
      await findTransfers(source, { accountId, limit: 50, ...times, ...filter })
      await findTransfers(source, { accountId, limit: 50, isAscending: true, ...filter })
      await countTransfers(source, { accountId, ...filter })
    }
  for (const filter of [{}, { userId: 'u' }, { auditAction: 'key.create' }, times]) {
    await findAuditEntries(reading, { accountId, limit: 50, ...filter })
    await findAuditEntries(reading, { accountId, limit: 50, isAscending: true, ...filter })
    for (const source of sources) await countAuditEntries(source, { accountId, ...filter })
  }
  const utcTimes = { fromUtc: '2026', toUtc: '2027' }
  for (const filter of [{}, { subjectId: 's' }, { externalId: 'e' }])
    await findDeletions(reading, { galleryId: 'g', limit: 50, ...filter })
  await findDeletions(reading, { galleryId: 'g', limit: 50, ...utcTimes })
  for (const filter of [{}, { subjectId: 's' }, { externalId: 'e' }, utcTimes]) {
    await findDeletions(reading, { accountId: accountId, limit: 50, ...filter })
    await countDeletions(reading, { accountId: accountId, ...filter })
  }
  const chart = { accountId, projectId: 'p', ...times }
  for (const by of ['action', 'projectId', 'keyId', 'code', 'outcome'] as const)
    await countCalls(reading, chart, { by, stepMs: 3_600_000 })
  await findLatencies(reading, chart, 3_600_000)
  await countScores(reading, { ...chart, kind: 'similarity' })
  await countCallsByPrefix(reading, 'abcd', 9)
  await reconcile(reading, { accountId, ...times })
  assert.ok(plans.length > 50)
  assert.deepEqual(
    plans.filter((plan) => largeTableScan.test(plan)),
    [],
  )
  connection.close()
  await store.close()
  await rm(dataDir, { recursive: true })
})

test('A filter by a prefix of a request id, or by failures, reads only the calls that match', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-plans-'))
  const store = await openStore(dataDir)
  const connection = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  const planOf = async (find: (reading: ReadTx) => Promise<unknown>): Promise<string> => {
    const plan: string[] = []
    await find({
      build: store.db,
      run: async (query) => {
        const { sql, parameters } = query.compile()
        const rows = connection
          .prepare(`explain query plan ${sql}`)
          .all(...(parameters as SQLInputValue[]))
        plan.push(...rows.map(({ detail }) => String(detail)))
        return []
      },
    })
    return plan.join('\n')
  }
  const prefix = { accountId: 'a', requestIdPrefix: 'abcd', limit: 50 }
  for (const filter of [{}, { fromMs: 1, toMs: 2 }, { code: 'NO_FACE_FOUND' }]) {
    const plan = await planOf((reading) => readCalls(reading, { ...prefix, ...filter }))
    assert.match(plan, /SEARCH calls USING INTEGER PRIMARY KEY/u, plan)
    assert.match(plan, /COVERING INDEX calls_by_request \(requestId>\? AND requestId<\?\)/u, plan)
  }
  const failed = { accountId: 'a', projectId: 'p', result: 'failed', limit: 50 } as const
  const latest = await planOf((reading) => readCalls(reading, failed))
  assert.match(latest, /USING INDEX calls_failed_by_time/u)
  assert.doesNotMatch(latest, /TEMP B-TREE/u, 'the rows are in the order of time')
  for (const filter of [{ outcome: 'spoof' }, { outcome: 'no_match', nearMiss: true }] as const) {
    const plan = await planOf((reading) =>
      readCalls(reading, { ...filter, projectId: 'p', limit: 50 }),
    )
    assert.match(plan, /USING INDEX calls_(?:without_success|near_miss)/u)
    assert.doesNotMatch(plan, /TEMP B-TREE/u, 'the rows are in the order of time')
  }
  for (const isAscending of [false, true]) {
    for (const filter of [
      {},
      { outcome: 'spoof' },
      { keyId: 'k' },
      { action: 'a' },
      { result: 'failed' },
    ] as const) {
      const page = await planOf((reading) =>
        readCalls(reading, { accountId: 'a', limit: 101, isAscending, ...filter }),
      )
      assert.doesNotMatch(page, /TEMP B-TREE/u, 'a page is read in its order, not sorted')
    }
  }
  const count = await planOf((reading) => countCallsByPrefix(reading, 'abcd', 9))
  assert.match(count, /COVERING INDEX calls_by_request/u, count)
  connection.close()
  await store.close()
  await rm(dataDir, { recursive: true })
})

test('A search for a text reads only an index, and the found subjects by their ids', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-plans-'))
  const store = await openStore(dataDir)
  const connection = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  const planOf = async (find: (reading: ReadTx) => Promise<unknown>): Promise<string> => {
    let plan = ''
    await find({
      build: store.db,
      run: async (query) => {
        const { sql, parameters } = query.compile()
        const explain = connection.prepare(`explain query plan ${sql}`)
        const [first] = explain.all(...(parameters as SQLInputValue[]))
        plan = String(first?.['detail'])
        return []
      },
    })
    return plan
  }
  const after = { value: '2026', subjectId: 's' }
  const filters = [{}, { after }, { group: 'g' }, { createdFromUtc: '2026', createdToUtc: '2027' }]
  for (const part of filters) {
    const filter = { galleryId: 'g', text: 't', limit: 51, ...part }
    const step = await planOf((reading) => findStepEnd(reading, filter, 5000))
    assert.match(step, /COVERING INDEX subjects_by_\w+ \(galleryId=\?/u)
    for (const upTo of [after, undefined]) {
      const plan = await planOf((reading) => findSubjectPositions(reading, { ...filter, upTo }))
      assert.match(plan, /COVERING INDEX subjects_by_text \(galleryId=\?/u)
    }
    const rows = await planOf((reading) =>
      findSubjects(reading, { ...filter, subjectIds: ['a', 'b'] }),
    )
    assert.match(rows, /\(subjectId=\?\)/u)
  }
  for (const isDescending of [false, true])
    for (const part of [{}, { after }]) {
      const indexes = { updatedAtUtc: 'update', lastSeenAtUtc: 'last_seen', searchText: 'name' }
      for (const by of ['updatedAtUtc', 'lastSeenAtUtc', 'searchText'] as const) {
        const filter = { galleryId: 'g', limit: 51, sort: { by, isDescending }, ...part }
        const plan = await planOf((reading) => findSubjects(reading, filter))
        assert.ok(plan.includes(`INDEX subjects_by_${indexes[by]} (galleryId=?`), plan)
      }
    }
  const attribute = { name: 'team', value: 'a' }
  const ids = await planOf((reading) => findFewIds(reading, { galleryId: 'g', attribute }))
  assert.match(ids, /PRIMARY KEY \(galleryId=\? AND name=\? AND value=\?\)/u)
  connection.close()
  await store.close()
  await rm(dataDir, { recursive: true })
})
