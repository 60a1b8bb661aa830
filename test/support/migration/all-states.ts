import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { topUp } from '../../../src/billing/ledger.ts'
import { createEntryHook } from '../../../src/cli/audit/audited-change.ts'
import { addDistinctSubjects } from '../../../src/store/gallery/duplicates/distinct-subjects.ts'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import { openCertificateKey } from '../../../src/gallery/deletion/certificate-keys.ts'
import { openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { createSecondFactorSecrets } from '../../../src/gallery/keys/second-factor-secrets.ts'
import {
  confirmSecondFactor,
  replaceRecoveryCodes,
} from '../../../src/store/console/second-factors.ts'
import { dayOf, formatUtc } from '../../../src/lib/clock.ts'
import { microsMax } from '../../../src/lib/money.ts'
import type { Store } from '../../../src/store/database.ts'
import { countMatches } from '../../../src/store/gallery/feedback/match-days.ts'
import { addNearMissCrop } from '../../../src/store/gallery/feedback/near-miss-crops.ts'
import { insertMatches } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { endCalibrations } from '../../../src/store/gallery/calibration/applied-calibrations.ts'
import { databaseFile } from '../../../src/store/sqlite/database-files.ts'
import { migratedTables } from '../../../src/store/sqlite-to-postgres/tables.ts'
import { recordFormerSecretUse, rotateKey } from '../../../src/store/tenancy/key-changes.ts'
import { createPlaygroundKey } from '../../../src/store/tenancy/key-list.ts'
import { createKey, revokeKey, type NewKey } from '../../../src/store/tenancy/keys.ts'
import { createAccount, createProject, updateProject } from '../../../src/store/tenancy/projects.ts'
import { claimDeliveries, recordAttempt } from '../../../src/store/webhooks/deliveries.ts'
import { recordCameraChanges } from '../../../src/store/webhooks/camera-changes.ts'
import { recordExpiryNotice } from '../../../src/store/webhooks/expiring-keys.ts'
import { deleteWebhook, pauseWebhook } from '../../../src/store/webhooks/webhooks.ts'
import { assertOk, type TestConsole } from '../console/test-console.ts'
import { addGalleryCalibration } from '../gallery/add-gallery-calibration.ts'
import { imageParams, type TestGallery } from '../gallery/test-gallery.ts'

const hourMs = 3_600_000

/**
 * Adds accounts, projects, keys, subjects, users and webhooks in every state: never used, empty,
 * deleted, frozen, revoked, expired, rotated, disabled, paused.
 *
 * @returns the key of a project that was never called.
 */
export async function addAllStates(testConsole: TestConsole): Promise<string> {
  const { gallery, owner, projectId } = testConsole
  await addProjects(gallery.database.store)
  await addDeletedProject(testConsole)
  await addKeys(gallery.database.store, projectId)
  await addSubjects(gallery)
  await addUsers(testConsole)
  await addWebhooks(gallery)
  assertOk(await owner.send('PUT', '/money/prices/svc.detect', { unitMicros: '0' }))
  return (await gallery.createProjectClient({ galleryMode: 'isolated' })).key
}

async function addProjects({ db, write }: Store): Promise<void> {
  const now = new Date()
  const accountId = await createAccount(db, 'never used', now)
  // The amounts of all accounts sum to more than 64 bits.
  await write((tx) => topUp(tx, accountId, microsMax, now.getTime()))
  const add = (name: string, galleryMode: 'isolated' | 'shared') =>
    createProject(db, { accountId, name, galleryMode }, now)
  await add('never called', 'isolated')
  const { projectId } = await add('never called, with its own settings', 'shared')
  const limits = { sustainedPerS: 1, burst: 2, retentionDays: 30, identifyThreshold: 0.5 }
  await updateProject(db, projectId, {
    ...limits,
    switches: { autoEnroll: true, feedback: true, billing: false },
  })
  const frozen = await add('frozen', 'isolated')
  const change = db.updateTable('projects').set({ isFrozen: 1 })
  await change.where('projectId', '=', frozen.projectId).execute()
}

/** A deleted project with a charged call, a deletion record and a returned budget. */
async function addDeletedProject({ owner, gallery }: TestConsole): Promise<void> {
  const confirm = 'deleted'
  const settings = { name: confirm, galleryMode: 'isolated' }
  const { projectId } = assertOk(await owner.send('POST', '/projects', settings)).body
  const allocation = { projectId, amountMicros: '1000000' }
  assertOk(await owner.send('POST', '/money/top-up', { amountMicros: '1000000' }))
  assertOk(await owner.send('POST', '/money/allocate', allocation))
  const newKey = { projectId, name: 'of a deleted project', permissions: ['*'] }
  const { key } = assertOk(await owner.send('POST', '/keys', newKey)).body
  await gallery.withKey(key).value('svc.enroll', imageParams('Deleted with the project'))
  assertOk(await owner.send('DELETE', `/projects/${projectId}`, { confirm }))
}

async function addKeys({ db, write }: Store, projectId: string): Promise<void> {
  const now = new Date()
  const atHours = (hours: number) => new Date(now.getTime() + hours * hourMs)
  const add = async (name: string, dates: Partial<NewKey> = {}) =>
    (
      await createKey(
        db,
        { projectId, name, permissions: ['svc.detect'], expiresAtUtc: null, ...dates },
        now,
      )
    ).keyId
  await add('never used')
  await add('expired', { expiresAtUtc: atHours(-1).toISOString() })
  const expiringId = await add('expiring', {
    expiresAtUtc: atHours(1).toISOString(),
    permissions: [],
  })
  await revokeKey(db, await add('revoked and expired', { expiresAtUtc: now.toISOString() }), now)
  await rotateKey(db, { keyId: await add('rotated'), overlapMs: 0 }, now)
  const keyId = await add('rotated with an overlap')
  await rotateKey(db, { keyId, overlapMs: hourMs }, atHours(-1))
  await rotateKey(db, { keyId, overlapMs: hourMs }, now)
  await createPlaygroundKey(db, projectId, now)
  const atUtc = now.toISOString()
  const use = { keyId, endsAtUtc: atHours(1).toISOString(), atUtc, unlessUsedAfterUtc: atUtc }
  await write(async (tx) => {
    await recordFormerSecretUse(tx, use)
    await recordExpiryNotice(tx, { keyId: expiringId, expiryNoticeDays: null }, 1)
    await recordCameraChanges(tx, {
      keyId,
      cameraChangesAtMs: now.getTime(),
      changes: [{ measure: 'quality', before: 90, after: 60 }],
      reportedBeforeMs: 0,
    })
  })
}

/** Subjects that are expired, without a face, without a name; a gallery and a group left empty. */
async function addSubjects({ database, openedGallery, createProjectClient }: TestGallery) {
  const { store } = database
  const emptied = await createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await emptied.value('svc.enroll', {
    ...imageParams('Only one'),
    groups: ['emptied'],
  })
  await emptied.value('svc.deleteSubject', { subjectId })
  await emptied.value('svc.identify', imageParams('Only one'))

  const { key: _key, project } = await createProjectClient({ galleryMode: 'isolated' })
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const texts = { long: 'x'.repeat(300), '': '' }
  const attributes = { ...texts, none: null, list: [1], decimal: 1.5, large: 1e21, yes: true }
  await store.write(async (tx) => {
    const { subjects } = openedGallery
    const change = (subjectId: string) =>
      tx.build.updateTable('subjects').where('subjectId', '=', subjectId)
    const named = { externalId: 'expired', withoutFaces: true }
    const expired = await subjects.create(tx, owner, named)
    await tx.run(change(expired.subjectId).set({ expiresAtUtc: '2020-01-01T00:00:00.000Z' }))
    const unnamed = await subjects.create(tx, owner, { attributes, withoutFaces: true })
    await tx.run(change(unnamed.subjectId).set({ needsNewKey: 1 }))
    const merged = await subjects.create(tx, owner, { externalId: 'merged', withoutFaces: true })
    await subjects.merge(tx, { source: merged, target: unnamed })
    const [subjectId, otherId] = [expired.subjectId, unnamed.subjectId]
    const decision = { decidedAtUtc: expired.createdAtUtc, decidedBy: 'Olga' }
    await addDistinctSubjects(tx, { galleryId: projectId, subjectId, otherId, ...decision })
    const match = { galleryId: projectId, projectId, subjectId: otherId, modelId: 'people@1' }
    const position = { resultIndex: 0, faceIndex: 0, matchedAtMs: 1 }
    const ciphertext = Buffer.from('template')
    for (const state of [
      { ciphertext, expiresAtMs: Date.now() + hourMs, verdict: null },
      { ciphertext, expiresAtMs: null, verdict: 'denied' },
      { ciphertext: null, expiresAtMs: null, verdict: 'confirmed' },
    ] as const) {
      const ids = { verdictId: randomUUID(), requestId: randomUUID() }
      await insertMatches(tx, [{ ...match, ...position, ...state, ...ids }])
    }
    await tx.run(change(otherId).set({ hasDenials: 1 }))
    const nearMiss = { cropId: randomUUID(), projectId, subjectId: otherId, ciphertext }
    const times = { storedAtMs: Date.now(), expiresAtMs: Date.now() + hourMs }
    await addNearMissCrop(tx, { ...nearMiss, ...times, requestId: randomUUID() })
    await tx.run(
      tx.build.updateTable('projects').set({ matchDays: 1 }).where('projectId', '=', projectId),
    )
    const day = dayOf(formatUtc(Date.now()))
    await countMatches(tx, { projectId, day, subjectIds: [otherId] })
    const visitors = { ...owner, galleryId: `${projectId}:visitors` }
    const visitor = await subjects.create(tx, visitors, { visitCount: 2, withoutFaces: true })
    await tx.run(change(visitor.subjectId).set({ isIgnored: 1 }))
    const sweep = { name: 'callsSweptBefore' as const, valueMs: Date.now() }
    await tx.run(
      tx.build
        .insertInto('watermarks')
        .values(sweep)
        .onConflict((on) => on.doNothing()),
    )
  })
  await addGalleryCalibration(store, projectId, 'people@1')
  const end = { atUtc: new Date().toISOString(), by: 'Olga' }
  await store.write((tx) => endCalibrations(tx, projectId, end))
}

/** Users who are invited, disabled, and with a second factor that is unconfirmed or confirmed. */
async function addUsers({ gallery, owner, inviteMember }: TestConsole): Promise<void> {
  const { store } = gallery.database
  const invite = async (name: string): Promise<string> =>
    assertOk(await owner.send('POST', '/users', { name, role: 'admin' })).body.user.userId
  await invite('invited')
  const unconfirmed = await invite('unconfirmed')
  const confirmed = await invite('confirmed')
  await createEntryHook(store, { auditAction: 'user.invite', target: confirmed }).then(store.write)
  await store.write((tx) => createSetupLink(tx, null, Date.now()))
  const keyring = openKeyring(path.join(gallery.dataDir, 'master.key'))
  const secrets = createSecondFactorSecrets(keyring)
  await store.write(async (tx) => {
    await secrets.replace(tx, { userId: unconfirmed, secret: randomBytes(20) })
    await secrets.replace(tx, { userId: confirmed, secret: randomBytes(20) })
    await confirmSecondFactor(tx, confirmed, 59_000_000)
    await replaceRecoveryCodes(tx, confirmed, [randomBytes(32), randomBytes(32)])
  })
  const { accountId } = await store.db
    .selectFrom('users')
    .select('accountId')
    .executeTakeFirstOrThrow()
  await store.write((tx) => openCertificateKey(tx, keyring, accountId))
  const disabled = await inviteMember('viewer')
  const { userId } = (await disabled.get('/session')).body.user
  assertOk(await owner.send('PATCH', `/users/${userId}`, { disabled: true }))
}

/** Webhooks that are paused or deleted, and deliveries that succeeded or failed. */
async function addWebhooks({ database: { store }, webhooks, createProjectClient }: TestGallery) {
  const { projectId } = (await createProjectClient({ galleryMode: 'isolated' })).project
  const nowMs = Date.now()
  const webhook = {
    projectId,
    url: 'https://webhook.invalid',
    events: ['identify.matched'] as const,
  }
  for (const state of ['delivered', 'failed', 'paused', 'deleted'] as const)
    await store.write(async (tx) => {
      const created = await webhooks.create(tx, webhook, nowMs)
      assert.ok(created)
      const { webhookId } = created
      await webhooks.sendTest(tx, { webhookId, projectId }, nowMs)
      await webhooks.rotateSecret(tx, { webhookId }, { nowMs, overlapHours: 1 })
      if (state === 'paused')
        return pauseWebhook(tx, webhookId, {
          failures: 3,
          nowMs,
          pausedUntilMs: nowMs + 24 * hourMs,
        })
      const claim = { webhookId, nowMs, leaseUntilMs: nowMs + hourMs, limit: 1 }
      const [delivery] = await claimDeliveries(tx, claim)
      assert.ok(delivery)
      if (state === 'delivered')
        await recordAttempt(tx, delivery, { state, dueAtMs: 0, status: 204, error: null })
      if (state === 'failed')
        await recordAttempt(tx, delivery, { state, dueAtMs: 0, status: null, error: 'no address' })
      if (state === 'deleted') await deleteWebhook(tx, { webhookId, projectId })
    })
}

type TableColumn = { readonly name: string; readonly notnull: number; readonly pk: number }

/**
 * Returns the migrated tables without a row, and the columns without one of their kinds of values: null
 * and another value, or 0 and 1.
 */
export function missingStates(dataDir: string): string[] {
  using database = new DatabaseSync(path.join(dataDir, databaseFile), { readOnly: true })
  return migratedTables.flatMap(({ name }) => {
    const has = (condition: string): boolean =>
      database.prepare(`select 1 from "${name}" where ${condition} limit 1`).get() !== undefined
    if (!has('true')) return [`${name} without rows`]
    const columns = database.prepare(`pragma table_info("${name}")`).all() as TableColumn[]
    const conditions = columns.flatMap((column) => [
      ...(column.notnull === 0 && column.pk === 0
        ? [`"${column.name}" is null`, `"${column.name}" is not null`]
        : []),
      ...(/^(?:is|has|needs|without)[A-Z]/u.test(column.name)
        ? [`"${column.name}" = 0`, `"${column.name}" = 1`]
        : []),
    ])
    return conditions.filter((condition) => !has(condition)).map((missing) => `${name}: ${missing}`)
  })
}
