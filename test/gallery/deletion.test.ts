import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { rotateKeys } from '../../src/gallery/keys/rotate-keys.ts'
import { isOnPostgres, isDatabaseSearch } from '../support/database/engine.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { embeddingEncodings } from '../support/gallery/fake-vision.ts'

const names = Array.from({ length: 50 }, (_, at) => `Person ${at}`)

/** How many of the people left a trace of their templates in the files of the folder. */
async function countExposed(dataDir: string, people: readonly string[]): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  assert.ok(files.length > 0)
  const bytes = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  const isFound = (name: string) =>
    embeddingEncodings(name).some((trace) => bytes.some((one) => one.includes(trace)))
  return people.filter(isFound).length
}

/** How often a text stands in the files. */
async function countMentions(dataDir: string, text: string): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  const bytes = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  return bytes.filter((one) => one.includes(text)).length
}

async function enrollAll(gallery: TestGallery): Promise<string[]> {
  const subjectIds: string[] = []
  for (const name of names) {
    const params = { ...imageParams(name), displayName: `${name} by name` }
    subjectIds.push((await gallery.value('svc.enroll', params)).subjectId)
  }
  return subjectIds
}

const skip = isOnPostgres() && 'postgres/at-rest.test.ts looks into the files of the server'

test(
  'no template ever lies in the database in the clear, before and after deletion and rotation',
  { skip },
  async () => {
    await using gallery = await startGallery()
    const { dataDir, database: books } = gallery
    const subjectIds = await enrollAll(gallery)
    assert.equal(await countExposed(dataDir, names), 0, 'enrolled')
    await books.store.checkpoint()
    assert.equal(await countExposed(dataDir, names), 0, 'in the main file')
    assert.ok(
      (await countMentions(dataDir, 'Person 3 by name')) > 0,
      'the scan finds what is there',
    )

    const copyDir = await mkdtemp(path.join(tmpdir(), 'facegate-copy-'))
    await copyFile(path.join(dataDir, 'facegate.db'), path.join(copyDir, 'facegate.db'))
    for (const subjectId of subjectIds) await gallery.value('svc.deleteSubject', { subjectId })
    assert.equal(await countExposed(dataDir, names), 0, 'deleted')
    assert.equal(await countMentions(dataDir, 'Person 3 by name'), 0, 'nor the names')
    for (const name of names.slice(0, 5)) {
      const seen = await gallery.value('svc.identify', imageParams(name))
      assert.equal(seen.matched, false)
    }

    const keep = await gallery.value('svc.enroll', { ...imageParams('Survivor') })
    const masterKeyFile = path.join(dataDir, 'master.key')
    const rotated = await rotateKeys({ store: books.store, masterKeyFile, nowMs: Date.now })
    assert.deepEqual(rotated, { galleries: 1, subjects: 1 })
    assert.equal(await countExposed(dataDir, names), 0, 'rotated')
    const again = await gallery.value('svc.verify', {
      ...imageParams('Survivor'),
      subjectId: keep.subjectId,
    })
    assert.equal(again.similarity, 1)

    // The copy of before, with the key of today.
    await copyFile(masterKeyFile, path.join(copyDir, 'master.key'))
    await assert.rejects(
      startGallery({ dataDir: copyDir, key: gallery.key }),
      /master key .* not in/u,
    )
    await rm(copyDir, { recursive: true })
  },
)

test('a template that is moved to another subject opens nowhere, raises an alert and matches nobody', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-swap-'))
  let key: string
  let ids: string[]
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const enrolled = ['Ann', 'Ben'].map((name) => gallery.value('svc.enroll', imageParams(name)))
    ids = (await Promise.all(enrolled)).map(({ subjectId }) => subjectId)
    const { db } = gallery.database.store
    const [one, other] = await db.selectFrom('templates').selectAll().execute()
    assert.ok(one && other)
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      await db
        .updateTable('templates')
        .set({ sealed: from.sealed })
        .where('faceId', '=', to.faceId)
        .execute()
  }
  await using gallery = await startGallery({ dataDir, key, log })
  // In memory a template is opened at the start; in the database, when a search has come upon it.
  const toldAtStart = lines.filter((line) => line.includes('template-tampered')).length
  assert.equal(toldAtStart, isDatabaseSearch() ? 0 : 2)
  for (const [at, name] of ['Ann', 'Ben'].entries()) {
    const seen = await gallery.value('svc.identify', imageParams(name))
    assert.equal(seen.matched, false)
    const verified = { ...imageParams(name), subjectId: ids[at] }
    assert.equal(await gallery.code('svc.verify', verified), 'MODEL_MISMATCH')
  }
  assert.ok(lines.length > 2, 'every use is told')
  await gallery[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

test('a replay names nobody once the subject is deleted, and brings nobody back', async () => {
  await using gallery = await startGallery()
  const who = { externalId: 'zoe-1', displayName: 'Zoe Q', groups: ['quire'] }
  const enrolment = {
    action: 'svc.enroll',
    requestId: randomUUID(),
    params: { ...imageParams('Zoe'), ...who },
  }
  const first = await gallery.post(enrolment)
  const { subjectId } = first.body.data.results[0].value
  const others = [
    { action: 'svc.identify', params: imageParams('Zoe') },
    { action: 'svc.verify', params: { ...imageParams('Zoe'), subjectId } },
    { action: 'svc.updateSubject', params: { subjectId, attributes: { secret: 'quill' } } },
  ].map((one) => ({ ...one, requestId: randomUUID() }))
  for (const one of others) assert.equal((await gallery.post(one)).body.ok, true)
  const before = await gallery.post(enrolment)
  assert.deepEqual({ ...before.body, meta: undefined }, { ...first.body, meta: undefined })

  const deletion = {
    action: 'svc.deleteSubject',
    requestId: randomUUID(),
    params: { subjectId },
  }
  const record = await gallery.post(deletion)
  for (const one of [enrolment, ...others]) {
    const { body } = await gallery.post(one)
    assert.equal(body.ok, true)
    assert.deepEqual(body.meta, { idempotencyReplay: true })
    for (const text of ['zoe-1', 'Zoe Q', 'quire', 'quill'])
      assert.ok(!JSON.stringify(body).includes(text), `${one.action} says ${text}`)
  }
  const replayed = await gallery.post(deletion)
  assert.deepEqual(replayed.body.data, record.body.data)
  const anew = { ...deletion, requestId: randomUUID() }
  assert.equal((await gallery.post(anew)).body.errors[0].code, 'SUBJECT_NOT_FOUND')
  assert.equal((await gallery.value('svc.identify', imageParams('Zoe'))).matched, false)
  assert.equal((await gallery.rest('GET', `/v1/subjects/${subjectId}`)).status, 404)
  const { body } = await gallery.rest('GET', `/v1/deletions?subjectId=${subjectId}`)
  assert.deepEqual(body.items, [record.body.data.results[0].value])
})

test('deletion records can be neither changed nor deleted, and a change of one would show', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Yan'))
  await gallery.value('svc.deleteSubject', { subjectId })
  const { db } = gallery.database.store
  await assert.rejects(db.deleteFrom('deletions').execute(), /for ever|append-only/u)
  await assert.rejects(
    db.updateTable('deletions').set({ externalId: 'x' }).execute(),
    /for ever|append-only/u,
  )
})

test('whoever is deleted while others look is found by nobody afterwards', async () => {
  await using gallery = await startGallery()
  for (let round = 0; round < 10; round++) {
    const { subjectId } = await gallery.value('svc.enroll', imageParams('Uma'))
    let isDeleted = false
    const looking = Array.from({ length: 20 }, async () => {
      const beganAfter = isDeleted
      const seen = await gallery.value('svc.identify', imageParams('Uma'))
      if (beganAfter) assert.equal(seen.matched, false)
    })
    const adding = gallery.call('svc.enroll', {
      ...imageParams({ name: 'Uma', deviation: 1 }),
      subjectId,
    })
    await gallery.value('svc.deleteSubject', { subjectId })
    isDeleted = true
    await Promise.all([...looking, adding])
    assert.equal((await gallery.value('svc.identify', imageParams('Uma'))).matched, false)
  }
})

test('who was not seen for too long, or was enrolled until a moment, is deleted by itself', async () => {
  let nowMs = Date.now()
  await using gallery = await startGallery({
    clock: () => nowMs,
    environment: { RETENTION_DAYS: '30' },
  })
  const dayMs = 86_400_000
  const inTenDays = new Date(nowMs + 10 * dayMs).toISOString()
  const brief = await gallery.value('svc.enroll', {
    ...imageParams('Wes'),
    expiresAtUtc: inTenDays,
  })
  const unmet = await gallery.value('svc.enroll', imageParams('Xia'))
  const met = await gallery.value('svc.enroll', imageParams('Vic'))
  nowMs += 11 * dayMs
  assert.equal(await runAsAllAccounts(() => gallery.openedGallery.gallery.sweep()), 1)
  nowMs += 10 * dayMs
  assert.equal((await gallery.value('svc.identify', imageParams('Vic'))).matched, true)
  nowMs += 10 * dayMs
  assert.equal(await runAsAllAccounts(() => gallery.openedGallery.gallery.sweep()), 1)
  const left = await gallery.rest('GET', '/v1/subjects')
  assert.deepEqual(
    left.body.items.map((one: { subjectId: string }) => one.subjectId),
    [met.subjectId],
  )
  const { body } = await gallery.rest('GET', '/v1/deletions')
  assert.deepEqual(
    body.items.map((one: { subjectId: string }) => one.subjectId),
    [unmet.subjectId, brief.subjectId],
  )
})

test('a master key that others may read, or another one, refuses the start', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-key-'))
  const file = path.join(dataDir, 'master.key')
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await gallery.value('svc.enroll', imageParams('Tom'))
  }
  const good = await readFile(file)
  await rm(file)
  await writeFile(file, good, { mode: 0o644 })
  await assert.rejects(startGallery({ dataDir, key }), /chmod 600/u)
  await rm(file)
  await assert.rejects(startGallery({ dataDir, key }), /master\.key/u)
  await writeFile(file, good, { mode: 0o600 })
  await using gallery = await startGallery({ dataDir, key })
  assert.equal((await gallery.value('svc.identify', imageParams('Tom'))).matched, true)
  await gallery[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})
