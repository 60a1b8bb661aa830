import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { project } from '../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { rotateKeys } from '../../src/gallery/keys/rotate-keys.ts'
import { runJson } from '../support/cli/run-json.ts'
import { isOnPostgres, isDatabaseSearch } from '../support/database/engine.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { identify } from '../support/gallery/visitors.ts'
import { embeddingEncodings } from '../support/gallery/fake-vision.ts'

const names = Array.from({ length: 50 }, (_, index) => `Person ${index}`)

/** Returns how many of the people have unencrypted templates in the database files. */
async function countExposed(dataDir: string, people: readonly string[]): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  assert.ok(files.length > 0)
  const contents = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  const isFound = (name: string) =>
    embeddingEncodings(name).some((bytes) => contents.some((content) => content.includes(bytes)))
  return people.filter(isFound).length
}

/** Returns how many database files contain a text. */
async function countMentions(dataDir: string, text: string): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  const contents = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  return contents.filter((content) => content.includes(text)).length
}

async function enrollAll(gallery: TestGallery): Promise<string[]> {
  const subjectIds: string[] = []
  for (const name of names) {
    const params = { ...imageParams(name), displayName: `${name} by name` }
    subjectIds.push((await gallery.value('svc.enroll', params)).subjectId)
  }
  return subjectIds
}

const skip = isOnPostgres() && 'postgres/encryption-at-rest.test.ts checks the files of the server'

test(
  'Database files contain no unencrypted template, before and after deletion and key rotation',
  { skip },
  async () => {
    await using gallery = await startGallery()
    const { dataDir, database } = gallery
    const subjectIds = await enrollAll(gallery)
    await runJson(dataDir, project, 'set default --unknown-people 30')
    const [visitorId] = await identify(gallery, imageParams('Unknown'))
    assert.ok(visitorId)
    const people = [...names, 'Unknown']
    assert.equal(await countExposed(dataDir, people), 0, 'enrolled')
    await database.store.checkpoint()
    assert.equal(await countExposed(dataDir, people), 0, 'after the checkpoint')
    assert.ok((await countMentions(dataDir, 'Person 3 by name')) > 0, 'the check finds names')
    assert.ok((await countMentions(dataDir, 'person 3 by name')) > 0, 'and search texts')

    const copyDir = await mkdtemp(path.join(tmpdir(), 'facegate-copy-'))
    await copyFile(path.join(dataDir, 'facegate.db'), path.join(copyDir, 'facegate.db'))
    for (const subjectId of subjectIds) await gallery.value('svc.deleteSubject', { subjectId })
    assert.equal((await gallery.rest('DELETE', `/v1/visitors/${visitorId}`)).status, 200)
    assert.equal(await countExposed(dataDir, people), 0, 'deleted')
    assert.equal(await countMentions(dataDir, 'Person 3 by name'), 0, 'names are deleted')
    assert.equal(await countMentions(dataDir, 'person 3 by name'), 0, 'search texts are deleted')
    await runJson(dataDir, project, 'set default --unknown-people off')
    for (const name of names.slice(0, 5)) {
      const found = await gallery.value('svc.identify', imageParams(name))
      assert.equal(found.matched, false)
    }

    const survivor = await gallery.value('svc.enroll', { ...imageParams('Survivor') })
    const masterKeyFile = path.join(dataDir, 'master.key')
    const rotated = await rotateKeys({ store: database.store, masterKeyFile, nowMs: Date.now })
    assert.deepEqual(rotated, { galleries: 2, subjects: 1, renewed: 0, unreadable: 0 })
    assert.equal(await countExposed(dataDir, people), 0, 'rotated')
    const verified = await gallery.value('svc.verify', {
      ...imageParams('Survivor'),
      subjectId: survivor.subjectId,
    })
    assert.equal(verified.similarity, 1)

    // The copy from before the rotation, with the new key.
    await copyFile(masterKeyFile, path.join(copyDir, 'master.key'))
    await assert.rejects(
      startGallery({ dataDir: copyDir, key: gallery.key }),
      /master key .* not in/u,
    )
    await rm(copyDir, { recursive: true })
  },
)

test('A rotation of the master key ends with an error when another one begins, which completes', async () => {
  await using gallery = await startGallery()
  for (const name of names.slice(0, 3)) await gallery.value('svc.enroll', imageParams(name))
  const masterKeyFile = path.join(gallery.dataDir, 'master.key')
  const options = { store: gallery.database.store, masterKeyFile, nowMs: Date.now }
  let second: ReturnType<typeof rotateKeys> | undefined
  const first = runAsAllAccounts(() =>
    rotateKeys({ ...options, onProgress: () => void (second ??= rotateKeys(options)) }),
  )
  await assert.rejects(first, /another rotation has added a newer master key/u)
  assert.ok(second)
  assert.equal((await second).unreadable, 0)
  assert.equal((await readFile(masterKeyFile, 'utf8')).split('\n').filter(Boolean).length, 1)
  const { matched } = await gallery.value('svc.identify', imageParams('Person 1'))
  assert.equal(matched, true)
})

test('A template that was moved to another subject cannot be decrypted, raises an alert and matches nothing', async () => {
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
    const [first, second] = await db.selectFrom('templates').selectAll().execute()
    assert.ok(first && second)
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const)
      await db
        .updateTable('templates')
        .set({ ciphertext: from.ciphertext })
        .where('faceId', '=', to.faceId)
        .execute()
  }
  await using gallery = await startGallery({ dataDir, key, log })
  // The search in memory decrypts all templates at start, the search in the database on demand.
  const alertsAtStart = lines.filter((line) => line.includes('template-tampered')).length
  assert.equal(alertsAtStart, isDatabaseSearch() ? 0 : 2)
  for (const [index, name] of ['Ann', 'Ben'].entries()) {
    const found = await gallery.value('svc.identify', imageParams(name))
    assert.equal(found.matched, false)
    const params = { ...imageParams(name), subjectId: ids[index] }
    assert.equal(await gallery.code('svc.verify', params), 'MODEL_MISMATCH')
  }
  assert.ok(lines.length > 2, 'every use is logged')
  await gallery[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

test('After a deletion, replays do not name the subject and do not restore it', async () => {
  await using gallery = await startGallery()
  const identity = { externalId: 'zoe-1', displayName: 'Zoe Q', groups: ['quire'] }
  const enrollment = {
    action: 'svc.enroll',
    requestId: randomUUID(),
    params: { ...imageParams('Zoe'), ...identity },
  }
  const first = await gallery.post(enrollment)
  const { subjectId } = first.body.data.results[0].value
  const others = [
    { action: 'svc.identify', params: imageParams('Zoe') },
    { action: 'svc.verify', params: { ...imageParams('Zoe'), subjectId } },
    { action: 'svc.updateSubject', params: { subjectId, attributes: { secret: 'quill' } } },
  ].map((call) => ({ ...call, requestId: randomUUID() }))
  for (const call of others) assert.equal((await gallery.post(call)).body.ok, true)
  const before = await gallery.post(enrollment)
  assert.deepEqual({ ...before.body, meta: undefined }, { ...first.body, meta: undefined })

  const deletion = {
    action: 'svc.deleteSubject',
    requestId: randomUUID(),
    params: { subjectId },
  }
  const record = await gallery.post(deletion)
  for (const call of [enrollment, ...others]) {
    const { body } = await gallery.post(call)
    assert.equal(body.ok, true)
    assert.deepEqual(body.meta, { redacted: true, idempotencyReplay: true })
    for (const text of ['zoe-1', 'Zoe Q', 'quire', 'quill'])
      assert.ok(
        !JSON.stringify(body).includes(text),
        `the replay of ${call.action} contains ${text}`,
      )
  }
  const replayed = await gallery.post(deletion)
  assert.deepEqual(replayed.body.data, record.body.data)
  const newDeletion = { ...deletion, requestId: randomUUID() }
  assert.equal((await gallery.post(newDeletion)).body.errors[0].code, 'SUBJECT_NOT_FOUND')
  assert.equal((await gallery.value('svc.identify', imageParams('Zoe'))).matched, false)
  assert.equal((await gallery.rest('GET', `/v1/subjects/${subjectId}`)).status, 404)
  const { body } = await gallery.rest('GET', `/v1/deletions?subjectId=${subjectId}`)
  assert.deepEqual(body.items, [record.body.data.results[0].value])
})

test('Deletion records can be neither changed nor deleted', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Yan'))
  await gallery.value('svc.deleteSubject', { subjectId })
  const { db } = gallery.database.store
  await assert.rejects(db.deleteFrom('deletions').execute(), /for\sever|append-only/u)
  await assert.rejects(
    db.updateTable('deletions').set({ externalId: 'x' }).execute(),
    /for\sever|append-only/u,
  )
})

test('A subject that is deleted during searches is not found afterwards', async () => {
  await using gallery = await startGallery()
  for (let round = 0; round < 10; round++) {
    const { subjectId } = await gallery.value('svc.enroll', imageParams('Uma'))
    let isDeleted = false
    const searches = Array.from({ length: 20 }, async () => {
      const wasDeleted = isDeleted
      const found = await gallery.value('svc.identify', imageParams('Uma'))
      if (wasDeleted) assert.equal(found.matched, false)
    })
    const enrollment = gallery.call('svc.enroll', {
      ...imageParams({ name: 'Uma', deviation: 1 }),
      subjectId,
    })
    await gallery.value('svc.deleteSubject', { subjectId })
    isDeleted = true
    await Promise.all([...searches, enrollment])
    assert.equal((await gallery.value('svc.identify', imageParams('Uma'))).matched, false)
  }
})

test('Subjects that expire or have no activity for the retention time are deleted automatically', async () => {
  let nowMs = Date.now()
  await using gallery = await startGallery({
    clock: () => nowMs,
    environment: { RETENTION_DAYS: '30' },
  })
  const dayMs = 86_400_000
  const inTenDays = new Date(nowMs + 10 * dayMs).toISOString()
  const expiring = await gallery.value('svc.enroll', {
    ...imageParams('Wes'),
    expiresAtUtc: inTenDays,
  })
  const inactive = await gallery.value('svc.enroll', imageParams('Xia'))
  const active = await gallery.value('svc.enroll', imageParams('Vic'))
  nowMs += 11 * dayMs
  assert.equal(await runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep()), 1)
  nowMs += 10 * dayMs
  assert.equal((await gallery.value('svc.identify', imageParams('Vic'))).matched, true)
  nowMs += 10 * dayMs
  assert.equal(await runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep()), 1)
  const left = await gallery.rest('GET', '/v1/subjects')
  assert.deepEqual(
    left.body.items.map((item: { subjectId: string }) => item.subjectId),
    [active.subjectId],
  )
  const { body } = await gallery.rest('GET', '/v1/deletions')
  assert.deepEqual(
    body.items.map((item: { subjectId: string }) => item.subjectId),
    [inactive.subjectId, expiring.subjectId],
  )
})

test('The server does not start with a missing master key or one that others may read', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-key-'))
  const file = path.join(dataDir, 'master.key')
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await gallery.value('svc.enroll', imageParams('Tom'))
  }
  const content = await readFile(file)
  await rm(file)
  await writeFile(file, content, { mode: 0o644 })
  await assert.rejects(startGallery({ dataDir, key }), /chmod 600/u)
  await rm(file)
  await assert.rejects(startGallery({ dataDir, key }), /master\.key/u)
  await writeFile(file, content, { mode: 0o600 })
  await using gallery = await startGallery({ dataDir, key })
  assert.equal((await gallery.value('svc.identify', imageParams('Tom'))).matched, true)
  await gallery[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})
