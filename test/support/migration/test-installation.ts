import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { reserve } from '../../../src/billing/ledger.ts'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { createKey, revokeKey } from '../../../src/store/tenancy/keys.ts'
import { findProject, updateProject, type Project } from '../../../src/store/tenancy/projects.ts'
import type { Tx } from '../../../src/store/database.ts'
import { databaseFile } from '../../../src/store/sqlite/database-files.ts'
import { assertOk, startConsole } from '../console/test-console.ts'
import { addPage } from '../bulk/gallery-pages.ts'
import { addGalleryCalibration } from '../gallery/add-gallery-calibration.ts'
import { imageParams, type GalleryClient, type TestGallery } from '../gallery/test-gallery.ts'
import { embeddingOf } from '../gallery/fake-vision.ts'
import { addAllStates } from './all-states.ts'

/** An installation and its responses before a migration, for comparison afterwards. */
export type TestInstallation = {
  readonly dataDir: string
  readonly key: string
  /** The keys of another project of the account, and of a project of another account. */
  readonly otherKeys: readonly string[]
  readonly neverCalledKey: string
  readonly revokedKey: string
  /** The cookie of an owner's session in the console. */
  readonly cookie: string
  readonly responses: RecordedResponses
  /** A completed call: its body and the data of its response. */
  readonly completedCall: { readonly body: object; readonly data: unknown }
}

/** Responses to calls that change nothing but the ledger. */
export type RecordedResponses = Readonly<Record<string, unknown>>

/** The ages of old calls: the log then has old months, with empty months between them. */
const oldCallAgesMs = [300, 95, 40].map((days) => days * 86_400_000)

/**
 * Creates an installation on SQLite with rows of all kinds and one running call, as if the server
 * had crashed.
 *
 * @param subjects the number of subjects that are added without calls.
 */
export async function createInstallation(subjects: number): Promise<TestInstallation> {
  const installation = await createWithServer(subjects)
  // A running server would apply and delete it.
  const database = new DatabaseSync(path.join(installation.dataDir, databaseFile))
  database
    .prepare('insert into removals select galleryId, 1, ? from subjects limit 1')
    .run(randomUUID())
  database.close()
  return installation
}

async function createWithServer(subjects: number): Promise<TestInstallation> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-installation-'))
  const environment = { DATABASE_URL: '', STARTER_CREDIT_MICROS: '1000000000' }
  await using testConsole = await startConsole({ dataDir, environment })
  const { gallery, owner, projectId } = testConsole
  const { store } = gallery.database
  const project = await findProject(store.db, projectId)
  assert.ok(project)
  const { accountId } = project

  await updateProject(store.db, projectId, { switches: { storeCrops: true } })
  await enrollSamples(gallery)
  await addGalleryCalibration(store, projectId, 'people@1')
  await gallery.openedGallery.maintenance.refreshCalibrations()
  await updateProject(store.db, projectId, { switches: { storeCrops: false } })
  await testConsole.inviteMember('viewer')
  assertOk(await owner.send('POST', '/money/top-up', { amountMicros: '5000', note: 'for later' }))
  assertOk(await owner.send('PUT', '/money/prices/svc.verify', { unitMicros: '700' }))
  const shared = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await shared.value('svc.enroll', { ...imageParams('Yan'), groups: ['night'] })
  const otherAccount = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await otherAccount.value('svc.enroll', { ...imageParams('Zoe'), externalId: 'zoe' })
  const newKey = { projectId, name: 'lost', permissions: ['*'], expiresAtUtc: null }
  const revoked = await createKey(store.db, newKey, new Date())
  await revokeKey(store.db, revoked.keyId, new Date())
  await addWebhook(gallery, projectId)
  await addSubjects(gallery, project, subjects)
  const masterKeyFile = path.join(dataDir, 'master.key')
  await rotateKeys({ store, masterKeyFile, nowMs: Date.now })
  await addPage(store, projectId)
  const neverCalledKey = await addAllStates(testConsole)

  const body = { action: 'svc.identify', params: imageParams('Ada'), requestId: randomUUID() }
  const completedCall = { body, data: (await gallery.post(body)).body.data }
  await gallery.post(body)
  const responses = await recordResponses(gallery, subjects)
  await store.write((tx) => addUnfinishedCall(tx, projectId, revoked.keyId))
  return {
    dataDir,
    key: gallery.key,
    otherKeys: [shared.key, otherAccount.key],
    neverCalledKey,
    revokedKey: revoked.key,
    cookie: owner.cookie(),
    responses,
    completedCall,
  }
}

/** A webhook with an undelivered event: its name cannot exist. */
async function addWebhook({ database, webhooks }: TestGallery, projectId: string): Promise<void> {
  const webhook = { projectId, url: 'https://webhook.invalid', events: ['budget.low'] as const }
  await database.store.write(async (tx) => {
    const created = await webhooks.create(tx, webhook, Date.now())
    assert.ok(created)
    await webhooks.sendTest(tx, { ...created, projectId }, Date.now())
  })
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
  const deleted = { ...imageParams('Gone'), externalId: 'gone', groups: ['staff'] }
  const { subjectId } = await value('svc.enroll', deleted)
  await value('svc.identify', imageParams('Gone'))
  await value('svc.liveness', imageParams({ name: 'Ada', liveness: { score: 0.46 } }))
  await value('svc.deleteSubject', { subjectId })
}

const subjectsPerTransaction = 200

/** Adds subjects as an enrollment does, but without calls. */
async function addSubjects(
  { openedGallery: { subjects }, database }: TestGallery,
  { projectId, accountId }: Project,
  count: number,
): Promise<void> {
  const owner = { galleryId: projectId, accountId, projectId }
  for (let from = 0; from < count; from += subjectsPerTransaction)
    await database.store.write(async (tx) => {
      const to = Math.min(count, from + subjectsPerTransaction)
      for (let index = from; index < to; index++) {
        const vector = embeddingOf({ name: personName(index) })
        const subject = await subjects.create(tx, owner, { externalId: personName(index) })
        const template = { modelId: 'people@1', vector, density: 0 }
        await subjects.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
}

function personName(index: number): string {
  return `person ${index}`
}

/** Adds log rows of old months and a call that never ends. */
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
      meteredMicros: 0n,
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

/** The number of subjects that are identified. */
const probeCount = 12

/** Makes calls whose responses must be equal before and after the migration. */
export async function recordResponses(
  client: GalleryClient,
  subjects: number,
): Promise<RecordedResponses> {
  const responses: Record<string, unknown> = {}
  const step = Math.max(1, Math.floor(subjects / probeCount))
  const enrolled = Array.from({ length: Math.min(probeCount, subjects) }, (_, index) =>
    personName(index * step),
  )
  for (const name of ['Ada', 'Ben', 'Gone', 'Zoe', 'unknown', ...enrolled]) {
    const probe = imageParams({ name, deviation: 0.5 })
    responses[`identify ${name}`] = await client.value('svc.identify', {
      ...probe,
      maxCandidates: 5,
    })
  }
  responses['verify Ada'] = await client.value('svc.verify', {
    ...imageParams('Ada'),
    externalId: 'ada',
  })
  responses['verify Gone'] = await client.code('svc.verify', {
    ...imageParams('Gone'),
    externalId: 'gone',
  })
  for (const route of ['/v1/subjects?limit=100', '/v1/groups', '/v1/deletions'])
    responses[route] = (await client.rest('GET', route)).body
  return responses
}
