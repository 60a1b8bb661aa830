import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { pageFaces } from '../../support/bulk/gallery-pages.ts'
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
  subjects.splice(subjects.indexOf(subject), 1)
  if (kind === 'merge' && target !== subject) return mergeSubjects(client, subject, target)
  await client.value('svc.deleteSubject', { subjectId })
}

test('After any changes, a load with pages reads exactly what a load without pages reads', async () => {
  const kinds = [
    'enroll',
    'add face',
    'remove face',
    'group',
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
    { numRuns: 8 },
  )
})
