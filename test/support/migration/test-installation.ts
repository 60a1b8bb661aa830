import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { reserve } from '../../../src/billing/ledger.ts'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { createKey, revokeKey } from '../../../src/store/tenancy/keys.ts'
import { findProject, updateProject, type Project } from '../../../src/store/tenancy/projects.ts'
import type { Tx } from '../../../src/store/tx.ts'
import { assertOk, startConsole } from '../console/test-console.ts'
import { imageParams, type GalleryClient, type TestGallery } from '../gallery/test-gallery.ts'
import { embeddingOf } from '../gallery/fake-vision.ts'

/** What is known of an installation before it moves, to be asked again afterwards. */
export type TestInstallation = {
  readonly dataDir: string
  readonly key: string
  /** Of another project of the account, and of one of another account. */
  readonly otherKeys: readonly string[]
  readonly revokedKey: string
  /** The cookie of an owner who is signed in to the console. */
  readonly cookie: string
  readonly responses: RecordedResponses
  /** A call that was answered: its body, and the answer. */
  readonly completedCall: { readonly body: object; readonly data: unknown }
}

/** What questions are answered with that change nothing but the books. */
export type RecordedResponses = Readonly<Record<string, unknown>>

/** Some months ago, so that the log has old months, and months between them without a row. */
const oldCallAgesMs = [300, 95, 40].map((days) => days * 86_400_000)

/**
 * Fills an installation on SQLite with a bit of everything, and leaves a call running in it, as if the
 * server had died.
 *
 * @param subjects how many, beside the few that come through the front door.
 */
export async function createInstallation(subjects: number): Promise<TestInstallation> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-installation-'))
  const environment = { DATABASE_URL: '', STARTER_CREDIT_MICROS: '1000000000' }
  await using desk = await startConsole({ dataDir, environment })
  const { gallery, owner, projectId } = desk
  const { store } = gallery.database
  const project = await findProject(store.db, projectId)
  assert.ok(project)
  const { accountId } = project

  await updateProject(store.db, projectId, { switches: { storeCrops: true } })
  await enrollSamples(gallery)
  await updateProject(store.db, projectId, { switches: { storeCrops: false } })
  await desk.inviteMember('viewer')
  assertOk(await owner.send('POST', '/money/top-up', { amountMicros: '5000', note: 'for later' }))
  assertOk(await owner.send('PUT', '/money/prices/svc.verify', { unitMicros: '700' }))
  const shared = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await shared.value('svc.enroll', { ...imageParams('Yan'), groups: ['night'] })
  const stranger = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await stranger.value('svc.enroll', { ...imageParams('Zoe'), externalId: 'zoe' })
  const wanted = { projectId, name: 'lost', permissions: ['*'], expiresAtUtc: null }
  const lost = await createKey(store.db, wanted, new Date())
  await revokeKey(store.db, lost.keyId, new Date())
  await addSubjects(gallery, project, subjects)
  const masterKeyFile = path.join(dataDir, 'master.key')
  await rotateKeys({ store, masterKeyFile, nowMs: Date.now })

  const body = { action: 'svc.identify', params: imageParams('Ada'), requestId: randomUUID() }
  const answered = { body, data: (await gallery.post(body)).body.data }
  const answers = await recordResponses(gallery, subjects)
  await store.write((tx) => addUnfinishedCall(tx, projectId, lost.keyId))
  return {
    dataDir,
    key: gallery.key,
    otherKeys: [shared.key, stranger.key],
    revokedKey: lost.key,
    cookie: owner.cookie(),
    responses: answers,
    completedCall: answered,
  }
}

async function enrollSamples({ value }: TestGallery): Promise<void> {
  const ada = {
    externalId: 'ada',
    displayName: 'Ada L. \u{1F469} "é\\n"',
    groups: ['staff', 'night'],
  }
  await value('svc.enroll', {
    ...imageParams('Ada'),
    ...ada,
    attributes: { level: 3, nul: '\\u0000' },
  })
  await value('svc.enroll', { ...imageParams({ name: 'Ada', deviation: 0.4 }), externalId: 'ada' })
  await value('svc.enroll', { ...imageParams('Ben'), expiresAtUtc: '2090-01-01T00:00:00Z' })
  const gone = { ...imageParams('Gone'), externalId: 'gone', groups: ['staff'] }
  const { subjectId } = await value('svc.enroll', gone)
  await value('svc.identify', imageParams('Gone'))
  await value('svc.deleteSubject', { subjectId })
}

const subjectsPerTransaction = 200

/** Subjects as enrolment makes them, without their calls. */
async function addSubjects(
  { openedGallery: { gallery }, database: books }: TestGallery,
  { projectId, accountId }: Project,
  count: number,
): Promise<void> {
  const owner = { galleryId: projectId, accountId, projectId }
  for (let from = 0; from < count; from += subjectsPerTransaction)
    await books.store.write(async (tx) => {
      for (let at = from; at < Math.min(count, from + subjectsPerTransaction); at++) {
        const vector = embeddingOf({ name: personName(at) })
        const subject = await gallery.create(tx, owner, { externalId: personName(at) })
        const template = { modelId: 'people@1', vector, density: 0 }
        await gallery.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
}

function personName(at: number): string {
  return `person ${at}`
}

/** Rows of old months in the log, and a call that never came back. */
async function addUnfinishedCall(tx: Tx, projectId: string, keyId: string): Promise<void> {
  const nowMs = Date.now()
  const call = { keyId, projectId, action: 'svc.detect' }
  for (const agoMs of oldCallAgesMs)
    await tx.logCall({
      ...call,
      atMs: nowMs - agoMs,
      requestId: randomUUID(),
      code: 'INVALID_REQUEST',
      latencyMs: 1 / 3,
      costMicros: 0n,
      isReplay: 0,
      transferId: null,
    })
  assert.ok(await reserve(tx, projectId, 1000n))
  await tx.attempts.insert({
    ...call,
    requestId: randomUUID(),
    fingerprint: randomBytes(32),
    token: randomUUID(),
    reservedMicros: 1000n,
    deadlineMs: nowMs + 60_000,
    windowStartMs: nowMs,
  })
}

/** How many of the subjects are looked for. */
const probeCount = 12

/** Asks what must be answered the same before and after. */
export async function recordResponses(
  client: GalleryClient,
  subjects: number,
): Promise<RecordedResponses> {
  const answers: Record<string, unknown> = {}
  const step = Math.max(1, Math.floor(subjects / probeCount))
  const known = Array.from({ length: Math.min(probeCount, subjects) }, (_, at) =>
    personName(at * step),
  )
  for (const name of ['Ada', 'Ben', 'Gone', 'Zoe', 'nobody', ...known]) {
    const shown = imageParams({ name, deviation: 0.5 })
    answers[`who is ${name}`] = await client.value('svc.identify', { ...shown, maxCandidates: 5 })
  }
  answers['is it Ada'] = await client.value('svc.verify', {
    ...imageParams('Ada'),
    externalId: 'ada',
  })
  answers['is it Gone'] = await client.code('svc.verify', {
    ...imageParams('Gone'),
    externalId: 'gone',
  })
  for (const place of ['/v1/subjects?limit=100', '/v1/groups', '/v1/deletions'])
    answers[place] = (await client.rest('GET', place)).body
  return answers
}
