import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { parallelFacesMin } from '../../../src/gallery/search/load/load-gallery.ts'
import { createLog } from '../../../src/lib/log.ts'
import { storeFaces } from '../../support/bulk/store-faces.ts'
import { dropDatabase } from '../../support/database/engine.ts'
import { tamper } from '../../support/database/tamper.ts'
import { imageParams, startGallery } from '../../support/gallery/test-gallery.ts'

const modelId = 'people@1'
const dimensions = 256

/** Returns a template that no person of a fake image has: all its values are negative. */
function templateAt(index: number) {
  const vector = new Float32Array(dimensions).fill(-0.1)
  vector[index % dimensions] = -0.5 - index / 1e5
  return { modelId, vector, density: -1 }
}

type LogLine = { readonly msg: string; readonly [field: string]: unknown }

/** Starts the service over a data folder, and returns the lines that its start logs. */
async function startLogged(dataDir: string, key: string) {
  const lines: LogLine[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as LogLine)
  const gallery = await startGallery({ dataDir, key, log: createLog('info', { write }) })
  const linesWith = (text: string) => lines.filter(({ msg }) => msg.includes(text))
  return { gallery, linesWith }
}

test('From 10,000 faces on, threads load a gallery at the start, and searches find every face', async () => {
  assert.equal(parallelFacesMin, 10_000)
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-load-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  opened.defer(() => dropDatabase(dataDir))
  const { key, faceIds, ann } = await fillGallery(dataDir)
  {
    const { gallery, linesWith } = await startLogged(dataDir, key)
    await using client = gallery
    assert.deepEqual(linesWith('the faces of a gallery'), [], 'a smaller gallery uses no threads')
    const dan = await client.value('svc.enroll', imageParams('Dan'))
    const found = await client.value('svc.identify', imageParams('Dan'))
    assert.deepEqual([found.bestMatch.subjectId, found.gallerySize], [dan.subjectId, 10_000])
  }
  const [moved = '', source = '', rekeyed = ''] = faceIds
  const ciphertext = `(select other.ciphertext from templates other where other."faceId" = '${source}')`
  await tamper(
    dataDir,
    `update templates set ciphertext = ${ciphertext} where "faceId" = '${moved}'`,
  )
  const subjectOf = (faceId: string) =>
    `(select "subjectId" from faces where "faceId" = '${faceId}')`
  const wrapped = `(select other."wrappedKey" from subjects other where other."subjectId" = ${subjectOf(source)})`
  await tamper(
    dataDir,
    `update subjects set "wrappedKey" = ${wrapped} where "subjectId" = ${subjectOf(rekeyed)}`,
  )
  const { gallery, linesWith } = await startLogged(dataDir, key)
  await using client = gallery
  const [started, ended] = linesWith('the faces of a gallery')
  assert.deepEqual([started?.['total'], ended?.['loaded']], [10_000, 9_998])
  const alerts = linesWith('cannot be decrypted')
  assert.deepEqual(
    alerts.map(({ alert, faceId }) => `${String(alert)} ${String(faceId)}`).toSorted(),
    [moved, rekeyed].toSorted().map((faceId) => `template-tampered ${faceId}`),
  )
  for (const groups of [undefined, ['visitors']]) {
    const found = await client.value('svc.identify', { ...imageParams('Ann'), groups })
    assert.equal(found.bestMatch.subjectId, ann, 'a face in a group is found')
  }
  const others = await client.value('svc.identify', { ...imageParams('Ben'), groups: ['visitors'] })
  assert.equal(others.bestMatch, null)
  const late = await client.value('svc.enroll', imageParams('Eve'))
  const eve = await client.value('svc.identify', imageParams('Eve'))
  assert.equal(eve.bestMatch.subjectId, late.subjectId, 'later changes are applied')
  await client.value('svc.deleteSubject', { subjectId: ann })
  const deleted = await client.value('svc.identify', imageParams('Ann'))
  assert.equal(deleted.bestMatch, null)
  await gallery[Symbol.asyncDispose]()
  await assertLoadsFromPages(dataDir, key, late.subjectId)
})

/** Asserts that the next start decrypts few templates with the keys of their subjects. */
async function assertLoadsFromPages(dataDir: string, key: string, late: string): Promise<void> {
  const { gallery, linesWith } = await startLogged(dataDir, key)
  await using client = gallery
  const [ended] = linesWith('loaded the faces of a gallery')
  assert.equal(ended?.['loaded'], 9_998)
  // The page of two tampered templates and of the deleted face, and the last page, which is not full.
  const decrypted = Number(ended?.['decrypted'])
  assert.ok(decrypted > 0 && decrypted < 1_000, JSON.stringify(ended))
  for (const [name, subjectId] of [
    ['Ann', undefined],
    ['Eve', late],
  ] as const) {
    const found = await client.value('svc.identify', imageParams(name))
    assert.equal(found.bestMatch?.subjectId, subjectId, name)
  }
}

/** Fills a gallery with 9,999 faces, one of them in the group `visitors`. */
async function fillGallery(dataDir: string) {
  await using gallery = await startGallery({ dataDir })
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const enrolled = await client.value('svc.enroll', {
    ...imageParams('Ann'),
    groups: ['visitors'],
  })
  await client.value('svc.enroll', imageParams('Ben'))
  const { projectId, accountId } = client.project
  const target = {
    store: gallery.database.store,
    masterKeyFile: path.join(dataDir, 'master.key'),
    owner: { galleryId: projectId, accountId, projectId },
  }
  const faceIds = await storeFaces(target, { count: parallelFacesMin - 3, templateAt })
  return { key: client.key, faceIds, ann: enrolled.subjectId as string }
}
