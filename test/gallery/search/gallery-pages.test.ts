import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keyCommands } from '../../../src/cli/tenancy/commands.ts'
import { retireTemplates } from '../../../src/store/gallery/retire-model.ts'
import { loadWithoutPages, loadWithPages, pageFaces } from '../../support/bulk/gallery-pages.ts'
import {
  assertPagesCurrent,
  assertSameLoad,
  createPagedGallery,
  mergeSubjects,
  type PagedSubject,
} from '../../support/bulk/paged-gallery.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { tamper } from '../../support/database/tamper.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

let service: TestGallery
let nowMs = Date.now()
const utcAfter = (ms: number): string => new Date(nowMs + ms).toISOString()

before(async () => {
  const environment = { COMPREFACE_API: 'on' }
  const models = { active: 'people@2', former: ['people@1'] }
  service = await startGallery({ environment, models, clock: () => nowMs })
})
after(() => service[Symbol.asyncDispose]())

test('The next load decrypts only the faces that no page contains', async () => {
  const { paged, enroll, client, subjects } = await createPagedGallery(service, 3 * pageFaces + 1)
  const first = await assertSameLoad(paged)
  assert.deepEqual([first.decrypted, first.pagesStored], [3 * pageFaces + 1, 3])
  const second = await assertSameLoad(paged)
  assert.deepEqual([second.decrypted, second.pagesStored], [1, 0], 'the last page is not full')
  for (let index = 1; index < pageFaces; index++) await enroll()
  const third = await assertSameLoad(paged)
  assert.deepEqual([third.decrypted, third.pagesStored], [pageFaces, 1])
  await client.value('svc.deleteSubject', { subjectId: subjects[pageFaces]?.subjectId })
  const fourth = await assertSameLoad(paged)
  assert.deepEqual([fourth.decrypted, fourth.pagesStored], [pageFaces - 1, 1], 'a smaller page')
  assert.equal((await assertSameLoad(paged)).decrypted, 0)
})

test('A page for other models is not used, and is replaced', async () => {
  const { paged } = await createPagedGallery(service, 2 * pageFaces)
  await assertSameLoad(paged)
  const former = { ...paged, models: { activeModelId: 'people@2', formerModelIds: [] } }
  const load = await assertSameLoad(former)
  assert.deepEqual([load.decrypted, load.pagesStored], [2 * pageFaces, 2])
  assert.equal((await assertSameLoad(former)).decrypted, 0)
})

/** Changes of a gallery, after which no page may contain the subject. */
type ErasingChange = (
  gallery: Awaited<ReturnType<typeof createPagedGallery>>,
  subject: PagedSubject,
  other: PagedSubject,
) => Promise<unknown>

const sweep = () => runAsAllAccounts(() => service.openedGallery.maintenance.sweep())

const changes: Readonly<Record<string, ErasingChange>> = {
  'the deletion of the subject': ({ client }, { subjectId }) =>
    client.value('svc.deleteSubject', { subjectId }),
  'the deletion of a face': async ({ client, addFace }, subject) => {
    await addFace(subject)
    const { subjectId, faceIds } = subject
    const removeFaceIds = faceIds.slice(0, 1)
    await client.value('svc.updateSubject', { subjectId, removeFaceIds })
  },
  'the deletion of the members of a group': async ({ client }, { subjectId }) => {
    await client.value('svc.updateSubject', { subjectId, addGroups: ['leaving'] })
    const { body } = await client.rest('DELETE', '/v1/groups/leaving')
    assert.equal(body.deletedCount, 1, JSON.stringify(body))
  },
  'the sweep after its expiry': async ({ client }, { subjectId }) => {
    await client.value('svc.updateSubject', { subjectId, expiresAtUtc: utcAfter(1000) })
    nowMs += 1000
    assert.equal(await sweep(), 1)
  },
  'a change of its groups': ({ client }, { subjectId }) =>
    client.value('svc.updateSubject', { subjectId, addGroups: ['guests'] }),
  'a change of its expiry': ({ client }, { subjectId }) =>
    client.value('svc.updateSubject', { subjectId, expiresAtUtc: utcAfter(86_400_000) }),
  'a merge into another subject': ({ client }, subject, other) =>
    mergeSubjects(client, subject, other),
}

test('No page contains a subject after any operation that deletes or changes one of its faces', async () => {
  const gallery = await createPagedGallery(service, pageFaces * (Object.keys(changes).length + 1))
  const { paged, subjects } = gallery
  for (const [index, [name, change]] of Object.entries(changes).entries()) {
    await assertSameLoad(paged)
    const [subject, other] = subjects.slice(index * pageFaces, index * pageFaces + 2)
    assert.ok(subject && other)
    const { subjectId } = subject
    const before = await assertPagesCurrent(paged)
    assert.ok(before.has(subjectId), 'a page contains the subject')
    await change(gallery, subject, other)
    const left = await assertPagesCurrent(paged)
    assert.ok(!left.has(subjectId), `after ${name}`)
    assert.ok(left.size >= before.size - 3 * pageFaces, `other pages are left after ${name}`)
  }
})

test('The retirement of a model and a key rotation delete the pages', async () => {
  const { paged, client, subjects } = await createPagedGallery(service, 2 * pageFaces)
  const { store } = paged
  await assertSameLoad(paged)
  const retirement = { modelId: 'people@2', activeModelId: 'people@2' }
  const [face] = subjects[0]?.faceIds ?? []
  // A second template by a former model, as after a model change.
  await store.write(async (tx) => {
    const template = { galleryId: paged.galleryId, faceId: face ?? '', modelId: 'people@1' }
    const row = { ...template, ciphertext: Buffer.alloc(40) }
    await tx.run(tx.build.insertInto('templates').values(row))
  })
  const retired = await retireTemplates(store, { ...retirement, modelId: 'people@1' })
  assert.deepEqual(retired, { templates: 1, faces: 0 })
  assert.equal((await assertPagesCurrent(paged)).size, 0)
  assert.equal((await assertSameLoad(paged)).pagesStored, 2)
  const [galleryKey] = await store.db.selectFrom('galleryPages').select('keyId').execute()
  await runJson(service.dataDir, keyCommands, 'rotate-master')
  assert.equal((await assertPagesCurrent(paged)).size, 0)
  const after = await assertSameLoad(paged)
  assert.equal(after.pagesStored, 2)
  const keys = await store.db.selectFrom('galleryPages').select('keyId').distinct().execute()
  assert.ok(
    keys.every(({ keyId }) => keyId !== galleryKey?.keyId),
    'with the new key',
  )
  const found = await client.value('svc.identify', imageParams('person 1'))
  assert.equal(found.bestMatch.subjectId, subjects[1]?.subjectId)
})

test('A page that was changed, moved or does not match its faces is deleted and not used', async () => {
  const { paged, subjects } = await createPagedGallery(service, 6 * pageFaces)
  const { galleryId, store } = paged
  await assertSameLoad(paged)
  const query = store.db.selectFrom('galleryPages').select('toSequence')
  const pages = await query.where('galleryId', '=', galleryId).orderBy('toSequence').execute()
  assert.equal(pages.length, 6)
  const [first, second, third, fourth] = pages.map(
    ({ toSequence }) => `"galleryId" = '${galleryId}' and "toSequence" = ${toSequence}`,
  )
  const source = (column: string) =>
    `(select o."${column}" from "galleryPages" o where o."galleryId" = '${galleryId}'
      and o."toSequence" = ${pages[5]?.toSequence ?? 0})`
  const moved = `ciphertext = ${source('ciphertext')}, "wrappedKey" = ${source('wrappedKey')}`
  const { subjectId = '', faceIds = [] } = subjects[3 * pageFaces] ?? {}
  const [deleted = ''] = faceIds
  for (const sql of [
    `update "galleryPages" set ciphertext = ${source('ciphertext')} where ${first}`,
    `update "galleryPages" set ${moved} where ${second}`,
    `update "galleryPages" set faces = faces - 1 where ${third}`,
    // Without triggers: the page still contains the face.
    `delete from templates where "faceId" = '${deleted}';
     delete from faces where "faceId" = '${deleted}'`,
  ])
    await tamper(service.dataDir, sql)
  assert.ok(fourth)
  const load = await loadWithPages(paged)
  assert.deepEqual(load.rows, await loadWithoutPages(paged))
  assert.ok(!load.rows.has(subjectId))
  assert.deepEqual(
    load.errors.map((fields) => ('alert' in fields ? fields.alert : undefined)),
    Array.from({ length: 4 }, () => 'gallery-page-tampered'),
  )
  assert.deepEqual([load.decrypted, load.pagesStored], [4 * pageFaces - 1, 4])
  assert.equal((await assertSameLoad(paged)).decrypted, 0)
})

test('Deletions while pages are written leave no page with a deleted face', async () => {
  const { paged, client, subjects } = await createPagedGallery(service, 8 * pageFaces)
  const deletions = subjects
    .filter((_, index) => index % 5 === 0)
    .map(
      ({ subjectId }) =>
        () =>
          client.value('svc.deleteSubject', { subjectId }),
    )
  const loads = [loadWithPages(paged), loadWithPages(paged)]
  for (const remove of deletions) await remove()
  await Promise.all(loads)
  await assertPagesCurrent(paged)
  await assertSameLoad(paged)
})
