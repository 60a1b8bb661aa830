import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { createPageMaintenance } from '../../../src/gallery/search/load/maintain-pages.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { databaseSettings, isOnPostgres } from '../../support/database/engine.ts'
import { countPages, pageFaces } from '../../support/bulk/gallery-pages.ts'
import {
  assertPagesCurrent,
  assertSameLoad,
  createPagedGallery,
  mergeSubjects,
} from '../../support/bulk/paged-gallery.ts'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

let service: TestGallery
before(async () => {
  const environment = { COMPREFACE_API: 'on' }
  service = await startGallery({
    environment,
    models: { active: 'people@2', former: ['people@1'] },
  })
})
after(() => service[Symbol.asyncDispose]())

test('While a server runs, it writes pages again that changes have deleted', async () => {
  const { paged, client, subjects } = await createPagedGallery(service, 4 * pageFaces)
  const { store, masterKeyFile, galleryId, models } = paged
  await assertSameLoad(paged)
  const { DATABASE_URL: databaseUrl = '' } = await databaseSettings(service.dataDir)
  const location = { dataDir: service.dataDir, databaseUrl }
  const options = { facesMin: 1, pageFaces, pageIntervalMs: 0, models: () => models }
  const log = { warn: assert.fail, error: assert.fail }
  const maintain = createPageMaintenance({
    ...options,
    store,
    location,
    masterKeyFile,
    log: log as never,
  })
  const [first, second] = subjects
  await client.value('svc.deleteSubject', { subjectId: first?.subjectId })
  await client.value('svc.updateSubject', { subjectId: second?.subjectId, addGroups: ['moved'] })
  assert.equal(await countPages(store, galleryId), 3)
  await runAsAllAccounts(() => maintain(new AbortController().signal))
  assert.equal(await countPages(store, galleryId), 4)
  const { decrypted } = await assertSameLoad(paged)
  assert.equal(decrypted, 1, 'only the changed face, which is now the last one')
  await runAsAllAccounts(() => rotateKeys({ store, masterKeyFile, nowMs: Date.now }))
  assert.equal(await countPages(store, galleryId), 0)
  await runAsAllAccounts(() => maintain(new AbortController().signal))
  const rotated = await assertSameLoad(paged)
  const faces = 4 * pageFaces - 1
  assert.equal(rotated.decrypted, faces % pageFaces, 'the last faces are not a full page')
})

type ChangedGallery = Awaited<ReturnType<typeof createPagedGallery>>

/** Applies a random change to a random subject. */
async function applyRandomChange(
  { client, enroll, addFace, subjects, paged }: ChangedGallery,
  { kind, pick, other }: { readonly kind: string; readonly pick: number; readonly other: number },
): Promise<void> {
  const subject = subjects[pick % subjects.length]
  const target = subjects[other % subjects.length]
  if (kind === 'load') return void (await assertSameLoad(paged))
  if (kind === 'enroll' || !subject || !target) return void subjects.push(await enroll())
  const { subjectId, faceIds } = subject
  const update = (fields: object) => client.value('svc.updateSubject', { subjectId, ...fields })
  if (kind === 'add face') return addFace(subject)
  if (kind === 'group') return void (await update({ addGroups: [`group-${other % 3}`] }))
  if (kind === 'no group') return void (await update({ removeGroups: ['staff'] }))
  if (kind === 'expiry')
    return void (await update({ expiresAtUtc: new Date(Date.now() + 1e9 + other).toISOString() }))
  if (kind === 'remove face') {
    if (faceIds.length < 2) return
    const removeFaceIds = faceIds.splice(other % faceIds.length, 1)
    return void (await update({ removeFaceIds }))
  }
  if (kind === 'move face') {
    if (faceIds.length < 2 || target === subject) return
    const addFaceIds = faceIds.splice(other % faceIds.length, 1)
    target.faceIds.push(...addFaceIds)
    const move = { subjectId: target.subjectId, addFaceIds, force: true }
    return void (await client.value('svc.updateSubject', move))
  }
  if (kind === 'rename group') {
    // A name with no subjects is answered with 404.
    await client.rest('POST', `/v1/groups/group-${pick % 3}/rename`, { name: `new-${other}` })
    return
  }
  subjects.splice(subjects.indexOf(subject), 1)
  if (kind === 'merge' && target !== subject) return mergeSubjects(client, subject, target)
  await client.value('svc.deleteSubject', { subjectId })
}

test('After any changes, a load with pages reads exactly what a load without pages reads', async () => {
  const kinds = [
    'enroll',
    'add face',
    'remove face',
    'move face',
    'group',
    'rename group',
    'no group',
    'expiry',
    'merge',
    'delete',
  ]
  const change = fc.record({
    kind: fc.constantFrom('load', 'load', ...kinds),
    pick: fc.nat(99),
    other: fc.nat(99),
  })
  const steps = fc.array(change, { minLength: 6, maxLength: 14 })
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const gallery = await createPagedGallery(service, 2 * pageFaces + 1)
      await assertSameLoad(gallery.paged)
      for (const step of sequence) {
        await applyRandomChange(gallery, step)
        await assertPagesCurrent(gallery.paged)
      }
      await assertSameLoad(gallery.paged)
    }),
    { numRuns: isOnPostgres() ? 3 : 8 },
  )
})
