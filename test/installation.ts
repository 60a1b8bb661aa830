import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { reserve } from '../src/billing/ledger.ts'
import { rotateKeys } from '../src/gallery/rotate.ts'
import { createKey, revokeKey } from '../src/store/keys.ts'
import { findProject, updateProject, type Project } from '../src/store/projects.ts'
import type { Tx } from '../src/store/tx.ts'
import { ok, startConsole } from './console.ts'
import { images, type GalleryClient, type TestGallery } from './gallery.ts'
import { vectorOf } from './people.ts'

/** What is known of an installation before it moves, to be asked again afterwards. */
export type Installation = {
  readonly dataDir: string
  readonly key: string
  /** Of another project of the account, and of one of another account. */
  readonly otherKeys: readonly string[]
  readonly revokedKey: string
  /** The cookie of an owner who is signed in to the console. */
  readonly cookie: string
  readonly answers: Answers
  /** A call that was answered: its body, and the answer. */
  readonly answered: { readonly body: object; readonly data: unknown }
}

/** What questions are answered with that change nothing but the books. */
export type Answers = Readonly<Record<string, unknown>>

/** Some months ago, so that the log has old months, and months between them without a row. */
const oldCallsAgoMs = [300, 95, 40].map((days) => days * 86_400_000)

/**
 * Fills an installation on SQLite with a bit of everything, and leaves a call running in it, as if the
 * server had died.
 *
 * @param subjects how many, beside the few that come through the front door.
 */
export async function makeInstallation(subjects: number): Promise<Installation> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-installation-'))
  const environment = { DATABASE_URL: '', STARTER_CREDIT_MICROS: '1000000000' }
  await using desk = await startConsole({ dataDir, environment })
  const { gallery, owner, projectId } = desk
  const { store } = gallery.books
  const project = await findProject(store.db, projectId)
  assert.ok(project)
  const { accountId } = project

  await updateProject(store.db, projectId, { switches: { storeCrops: true } })
  await enrollSome(gallery)
  await updateProject(store.db, projectId, { switches: { storeCrops: false } })
  await desk.member('viewer')
  ok(await owner.send('POST', '/money/top-up', { amountMicros: '5000', note: 'for later' }))
  ok(await owner.send('PUT', '/money/prices/svc.verify', { unitMicros: '700' }))
  const shared = await gallery.join({ galleryMode: 'shared', accountId })
  await shared.value('svc.enroll', { ...images('Yan'), groups: ['night'] })
  const stranger = await gallery.join({ galleryMode: 'isolated' })
  await stranger.value('svc.enroll', { ...images('Zoe'), externalId: 'zoe' })
  const wanted = { projectId, name: 'lost', permissions: ['*'], expiresAtUtc: null }
  const lost = await createKey(store.db, wanted, new Date())
  await revokeKey(store.db, lost.keyId, new Date())
  await addSubjects(gallery, project, subjects)
  const masterKeyFile = path.join(dataDir, 'master.key')
  await rotateKeys({ store, masterKeyFile, nowMs: Date.now })

  const body = { action: 'svc.identify', params: images('Ada'), requestId: randomUUID() }
  const answered = { body, data: (await gallery.post(body)).body.data }
  const answers = await ask(gallery, subjects)
  await store.write((tx) => leaveBehind(tx, projectId, lost.keyId))
  return {
    dataDir,
    key: gallery.key,
    otherKeys: [shared.key, stranger.key],
    revokedKey: lost.key,
    cookie: owner.cookie(),
    answers,
    answered,
  }
}

async function enrollSome({ value }: TestGallery): Promise<void> {
  const ada = {
    externalId: 'ada',
    displayName: 'Ada L. \u{1F469} "é\\n"',
    groups: ['staff', 'night'],
  }
  await value('svc.enroll', { ...images('Ada'), ...ada, attributes: { level: 3, nul: '\\u0000' } })
  await value('svc.enroll', { ...images({ name: 'Ada', wobble: 0.4 }), externalId: 'ada' })
  await value('svc.enroll', { ...images('Ben'), expiresAtUtc: '2090-01-01T00:00:00Z' })
  const gone = { ...images('Gone'), externalId: 'gone', groups: ['staff'] }
  const { subjectId } = await value('svc.enroll', gone)
  await value('svc.identify', images('Gone'))
  await value('svc.deleteSubject', { subjectId })
}

const subjectsAtATime = 200

/** Subjects as enrolment makes them, without their calls. */
async function addSubjects(
  { memory: { gallery }, books }: TestGallery,
  { projectId, accountId }: Project,
  count: number,
): Promise<void> {
  const owner = { galleryId: projectId, accountId, projectId }
  for (let from = 0; from < count; from += subjectsAtATime)
    await books.store.write(async (tx) => {
      for (let at = from; at < Math.min(count, from + subjectsAtATime); at++) {
        const vector = vectorOf({ name: personOf(at) })
        const subject = await gallery.create(tx, owner, { externalId: personOf(at) })
        const template = { modelId: 'people@1', vector, density: 0 }
        await gallery.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
}

function personOf(at: number): string {
  return `person ${at}`
}

/** Rows of old months in the log, and a call that never came back. */
async function leaveBehind(tx: Tx, projectId: string, keyId: string): Promise<void> {
  const nowMs = Date.now()
  const call = { keyId, projectId, action: 'svc.detect' }
  for (const agoMs of oldCallsAgoMs)
    await tx.log({
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
  await tx.attempts.begin({
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
const probes = 12

/** Asks what must be answered the same before and after. */
export async function ask(client: GalleryClient, subjects: number): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  const step = Math.max(1, Math.floor(subjects / probes))
  const known = Array.from({ length: Math.min(probes, subjects) }, (_, at) => personOf(at * step))
  for (const name of ['Ada', 'Ben', 'Gone', 'Zoe', 'nobody', ...known]) {
    const shown = images({ name, wobble: 0.5 })
    answers[`who is ${name}`] = await client.value('svc.identify', { ...shown, maxCandidates: 5 })
  }
  answers['is it Ada'] = await client.value('svc.verify', { ...images('Ada'), externalId: 'ada' })
  answers['is it Gone'] = await client.code('svc.verify', { ...images('Gone'), externalId: 'gone' })
  for (const place of ['/v1/subjects?limit=100', '/v1/groups', '/v1/deletions'])
    answers[place] = (await client.rest('GET', place)).body
  return answers
}
