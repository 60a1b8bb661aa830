import assert from 'node:assert/strict'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import * as fc from 'fast-check'
import { createCsvStream } from '../../src/console/server/csv-stream.ts'
import { toCsv } from '../../web/gallery/import/csv-cells.ts'
import {
  attemptsMax,
  contentUuid,
  enrollEntry,
  ImportStop,
} from '../../web/gallery/import/enroll-entry.ts'
import { resultsCsv } from '../../web/gallery/import/import-result.ts'
import { planImport } from '../../web/gallery/import/plan-import.ts'
import { listBytesMax, listRowsMax, readList } from '../../web/gallery/import/read-list.ts'
import { ledgerText, transferKinds, transferKindText } from '../../web/money/ledger/ledger-text.ts'
import { auditDetailText, auditTextOf } from '../../web/team/audit-text.ts'
import { chunkCharsMax, chunkRows, chunkRowsMax } from '../../web/gallery/import/to-values.ts'

const read = (csv: string) => readList(Buffer.from(csv))
const planOf = (csv: string, pictures: readonly string[] = []) => {
  const list = read(csv)
  assert.ok('rows' in list, JSON.stringify(list))
  return planImport(
    list,
    pictures.map((name) => ({ name })),
  )
}
const problemOf = (csv: string | Buffer) => {
  const list = readList(Buffer.from(csv))
  return 'problem' in list ? list.problem : undefined
}

/** Texts that spreadsheets would run, and texts that need quotes. */
const cell = fc
  .array(fc.constantFrom('=', '+', '-', '@', '＝', "'", '"', ',', ';', '\t', '\n', '1', 'é', ' '), {
    minLength: 1,
    maxLength: 6,
  })
  .map((letters) => letters.join(''))

test('Every text of an export is read unchanged by an import, and no cell begins like a formula for any separator', async () => {
  const columns = ['externalId', 'displayName']
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }),
      async (cells) => {
        const rows = cells.map(([externalId, displayName]) => ({ externalId, displayName }))
        const csv = await text(
          await createCsvStream(
            columns,
            (async function* stream() {
              yield* rows
            })(),
          ),
        )
        assert.equal(toCsv(columns, rows), csv, 'results are formatted like exports')
        const list = read(csv)
        assert.ok('rows' in list)
        assert.deepEqual(
          list.rows.map((row) => row.cells),
          rows,
        )
        // Programs divide cells at different separators, and remove quotes.
        for (const part of csv.split(/[;,\t\r\n"]/u))
          assert.doesNotMatch(part, /^(?!-\d+$)[=+\-@＝＋－＠]/u, csv)
      },
    ),
    { numRuns: 300 },
  )
})

test('Lists of spreadsheets and of CompreFace are read, with the line of each row', () => {
  const semicolons = read('\uFEFFsubject;displayName;Colour\r\n\r\n7;"Ann\nB";red\r\n8;;\r\n')
  assert.ok('rows' in semicolons)
  assert.deepEqual(
    semicolons.rows.map(({ cells }) => cells),
    [{ externalId: '7', displayName: 'Ann\nB' }, { externalId: '8' }],
  )
  assert.equal(semicolons.rows[1]?.line, 5)
  assert.deepEqual([semicolons.ignoredColumns, semicolons.hasFiles], [['Colour'], false])
  const exported = read('subjectId,embeddingCount,createdAtUtc,updatedAtUtc\r\n1,2,3,4')
  assert.ok('rows' in exported)
  assert.deepEqual([exported.rows[0]?.cells, exported.ignoredColumns], [{ subjectId: '1' }, []])
})

test('A list that cannot be read states why and what to change', () => {
  assert.match(problemOf('name\r\nAnn') ?? '', /must name the columns/u)
  assert.match(problemOf('externalId,subject,externalId\r\n1,2,3') ?? '', /occurs twice/u)
  assert.match(problemOf('externalId\r\n') ?? '', /no rows/u)
  assert.match(problemOf('externalId,groups\r\n1') ?? '', /cannot be read: .*line 2/iu)
  assert.match(problemOf(Buffer.from('externalId\r\nJos\xE9', 'latin1')) ?? '', /UTF-8/u)
  const rows = (count: number) => `externalId\n${'x\n'.repeat(count)}`
  assert.equal(problemOf(rows(listRowsMax)), undefined)
  assert.match(problemOf(rows(listRowsMax + 1)) ?? '', /10001 rows; at most 10000/u)
  const bytes = (count: number) => `externalId\n${'x'.repeat(count - 'externalId\n'.length)}`
  assert.equal(problemOf(bytes(listBytesMax)), undefined)
  assert.match(problemOf(bytes(listBytesMax + 1)) ?? '', /larger than 16 MiB/u)
})

test('Rows are combined with the chosen pictures by file name, and rows that cannot be sent are listed', () => {
  const csv = [
    'file,externalId,displayName,groups,attributes,subjectId,expiresAtUtc',
    'people/ann.jpg,ann,Ann,a  b,"{""floor"":3}",,',
    'people\\Ann 2.jpg,ann,,,,,',
    'missing.jpg,bob,,,,,',
    ',cleo,,,,,',
    'ann.jpg,dan,,,"[1]",,',
    'ann.jpg,,Eve,,,,',
    'ann.jpg,fay,,,,,never',
    'ann.jpg,,Gil,,,5e0c,',
  ].join('\n')
  const plan = planOf(csv, ['ann.jpg', 'Ann 2.jpg', 'unused.png'])
  assert.equal(plan.kind, 'enroll')
  assert.deepEqual(plan.entries, [
    {
      line: 2,
      name: 'ann',
      values: {
        externalId: 'ann',
        displayName: 'Ann',
        groups: ['a', 'b'],
        attributes: { floor: 3 },
      },
      picture: { name: 'ann.jpg' },
    },
    { line: 3, name: 'ann', values: { externalId: 'ann' }, picture: { name: 'Ann 2.jpg' } },
    { line: 9, name: 'ann.jpg', values: { subjectId: '5e0c' }, picture: { name: 'ann.jpg' } },
  ])
  assert.deepEqual(
    plan.refused.map(({ line, message }) => `${line} ${message}`),
    [
      '4 the file missing.jpg was not chosen',
      '5 names no file',
      '6 attributes must be a JSON object, such as {"floor": 3}',
      '7 has neither a subjectId nor an externalId',
      '8 expiresAtUtc must be a time, or empty',
    ],
  )
  assert.deepEqual(plan.unusedPictures, ['unused.png'])
  const update = planOf(`externalId,displayName\nann,${'x'.repeat(chunkCharsMax)}\nbob,Bob`)
  assert.deepEqual([update.kind, update.entries.length, update.refused.length], ['update', 1, 1])
})

test('Rows are divided into requests by their number and their length', () => {
  const rows = Array.from({ length: chunkRowsMax + 1 }, (_, line) => ({ line }))
  assert.deepEqual(
    chunkRows(rows).map(({ length }) => length),
    [chunkRowsMax, 1],
  )
  const half = { text: 'x'.repeat(chunkCharsMax / 2 - '{"text":""}'.length) }
  assert.deepEqual(
    chunkRows([half, half, { text: '' }]).map(({ length }) => length),
    [2, 1],
  )
  assert.deepEqual(chunkRows([]), [])
})

const row = { line: 7, name: 'ann' }
const ok = {
  status: 200,
  retryAfterS: null,
  envelope: { ok: true, data: { results: [{ value: { created: true, subjectId: 's' } }] } },
}
const failed = (code: string, retryAfterS: number | null = null) => ({
  status: 200,
  retryAfterS,
  envelope: { ok: false, errors: [{ code, message: 'm.', hint: 'Do this.' }] },
})

/** Enrolls a row with these answers, the last one for all further attempts. @returns the waits too. */
async function enrollWith(...answers: readonly (typeof ok | ReturnType<typeof failed>)[]) {
  const waits: number[] = []
  const requestIds: string[] = []
  const result = await enrollEntry(row, {
    requestId: 'first',
    send: async (requestId) =>
      answers[Math.min(requestIds.push(requestId), answers.length) - 1] ?? ok,
    waitS: async (seconds) => void waits.push(seconds),
  })
  return { result, waits, requestIds, attempt: requestIds.length }
}

test('An import of pictures waits as long as the service requires, and lists a refused picture', async () => {
  const limited = await enrollWith(failed('RATE_LIMITED', 3), failed('RATE_LIMITED'), ok)
  assert.deepEqual(limited.waits, [3, 1])
  assert.deepEqual(limited.result, { ...row, result: 'enrolled', subjectId: 's' })
  const refused = await enrollWith(failed('NO_FACE_FOUND'))
  const message = 'NO_FACE_FOUND: m. Do this.'
  assert.deepEqual(refused.result, { ...row, result: 'refused', message })
  const similar = await enrollWith(failed('DUPLICATE_SUBJECT'))
  assert.equal(similar.result.result, 'duplicate')
  const warnings = ['the subject already has the template of this picture; it was not added again']
  const value = { created: false, subjectId: 's', warnings }
  const repeated = { ...ok, envelope: { ok: true, data: { results: [{ value }] } } }
  assert.deepEqual((await enrollWith(repeated)).result, {
    ...row,
    result: 'unchanged',
    subjectId: 's',
  })
  const overloaded = { ...ok, status: 503, envelope: { detail: 'busy' } } as unknown as typeof ok
  assert.deepEqual((await enrollWith(overloaded, ok)).waits, [1])
  const last = Array.from({ length: attemptsMax - 1 }, () => failed('RATE_LIMITED', 1))
  assert.equal((await enrollWith(...last, ok)).attempt, attemptsMax)
})

test('A row is sent with another request id if its stored response need not be true any more', async () => {
  const replayOf = <Answer extends { envelope: object }>(answer: Answer, meta: object): Answer => ({
    ...answer,
    envelope: { ...answer.envelope, meta: { idempotencyReplay: true, ...meta } },
  })
  const redacted = replayOf(ok, { redacted: true })
  const full = replayOf(failed('GALLERY_FULL'), {})
  const { result, requestIds } = await enrollWith(redacted, full, failed('RATE_LIMITED'), ok)
  assert.equal(result.result, 'enrolled')
  const [first = '', second = '', third = '', fourth] = requestIds
  assert.deepEqual(
    [first, second, third, fourth],
    ['first', await contentUuid(first), await contentUuid(second), third],
  )
  const replay = await enrollWith(replayOf(ok, {}))
  assert.deepEqual([replay.result.result, replay.attempt], ['enrolled', 1])
})

test('An import of pictures stops for a failure that every further row would have', async () => {
  for (const code of ['PAYMENT_REQUIRED', 'FORBIDDEN', 'GALLERY_FULL', 'RATE_LIMITED'])
    await assert.rejects(enrollWith(failed(code)), (error: Error) => {
      return error instanceof ImportStop && error.message === `${code}: m.`
    })
})

test('A row that is sent again has the same request id, and another row has another one', async () => {
  const first = await contentUuid('a')
  assert.match(first, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/u)
  assert.equal(await contentUuid('a'), first)
  assert.notEqual(await contentUuid('b'), first)
})

test('Ids in the audit log are shown shortened, and amounts in the currency', () => {
  const id = '1c9f0d1a-0000-4000-8000-000000000000'
  assert.equal(auditTextOf([id, id, id]), '1c9f0d1a 1c9f0d1a 1c9f0d1a')
  assert.equal(auditTextOf([id, 'crew', id, id, id]), '1c9f0d1a crew 1c9f0d1a and 2 more')
  assert.deepEqual([auditTextOf(2), auditTextOf({ a: 1 })], ['2', 'a 1'])
  const detail = { unitMicros: '2500', amountMicros: '-1500000', isNew: true }
  const text = 'unit: 0.0025 USD, amount: −1.50 USD, is new: yes'
  assert.equal(auditDetailText(detail, 'USD'), text)
})

test('Empty values, times and projects of the audit log are words', () => {
  const id = '1c9f0d1a-0000-4000-8000-000000000000'
  const detail = {
    projectId: id,
    events: ['budget.low'],
    matchFilter: {},
    groups: [],
    expiresAtUtc: '2027-11-28T08:45:08.687Z',
    endsAtUtc: null,
    note: '',
  }
  const names = new Map([[id, 'Front door']])
  const text =
    'project: Front door, events: budget.low, match filter: none, groups: none, ' +
    'expires: 2027-11-28 08:45 UTC, ends: none, note: empty'
  assert.equal(auditDetailText(detail, 'USD', names), text)
  assert.match(auditDetailText(detail, 'USD'), /^project id: 1c9f0d1a, /u)
  assert.equal(auditTextOf(`wallet:${id}`), 'wallet')
})

test('The kinds of transfers and their sides are words', () => {
  const id = '1c9f0d1a-0000-4000-8000-000000000000'
  const kinds = transferKinds.map(({ value }) => transferKindText(value))
  assert.deepEqual(kinds, ['top-up', 'allocation', 'charge'])
  const sides = ['external', `wallet:${id}`, `budget:${id}`, 'revenue:svc.detect']
  assert.deepEqual(
    sides.map((side) => ledgerText(side, 'Front door')),
    ['Payments', 'Wallet', 'Budget of Front door', 'Charges of svc.detect'],
  )
  assert.equal(ledgerText(`budget:${id}`, null), 'Budget of 1c9f0d1a')
})

test('The result file lists the rows in the order of the list, and runs no formula', () => {
  const csv = resultsCsv([
    { line: 3, name: '=1+1', result: 'refused', message: 'a, b' },
    { line: 2, name: 'ann', result: 'updated', subjectId: 's' },
  ])
  assert.equal(
    csv,
    `line,name,result,subjectId,message\r\n2,ann,updated,s,\r\n3,'=1+1,refused,,"a, b"\r\n`,
  )
})
