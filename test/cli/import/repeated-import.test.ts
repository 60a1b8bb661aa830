import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { runCli } from '../../support/cli/run-cli.ts'
import { fakeImage } from '../../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { freePort } from '../../support/network/free-port.ts'

let gallery: TestGallery
let people: string
let journal: string
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())
beforeEach(async () => {
  people = await mkdtemp(path.join(tmpdir(), 'facegate-import-'))
  journal = path.join(people, 'journal')
})
afterEach(() => rm(people, { recursive: true }))

/** Writes one image per person. */
async function writePeople(...names: string[]): Promise<void> {
  for (const name of names)
    await writeFile(path.join(people, `${name}.jpg`), fakeImage(`${people} ${name}`).bytes)
}

const runImport = ({ url, key }: Pick<TestGallery, 'url' | 'key'>) =>
  runCli(['import', people, '--url', url, '--key', key, '--journal', journal])

test('an import within 24 hours after the deletion of its subjects enrolls them again', async () => {
  await writePeople('ann', 'ben')
  const subjectsOf = async () => {
    const pages = ['ann', 'ben'].map((name) =>
      gallery.rest('GET', `/v1/subjects?externalId=${name}`),
    )
    return (await Promise.all(pages)).flatMap(({ body }) => body.items)
  }
  const importAll = async () => {
    const { code, out, err } = await runImport(gallery)
    assert.deepEqual([code, out], [0, '2 enrolled, 0 refused, 0 done before\n'], err)
    const subjects = await subjectsOf()
    assert.equal(subjects.length, 2)
    return subjects
  }
  for (let round = 0; round < 3; round++) {
    const subjects = await importAll()
    await rm(journal)
    // A lost journal of a successful import: nothing is executed or charged again.
    assert.deepEqual(await importAll(), subjects)
    await rm(journal)
    for (const { subjectId } of subjects) await gallery.value('svc.deleteSubject', { subjectId })
  }
})

test('an image that was refused within 24 hours is sent again', async () => {
  await using limited = await startGallery({ environment: { GALLERY_TEMPLATES_MAX: '1' } })
  const { subjectId } = await limited.value('svc.enroll', imageParams('Holder'))
  await writePeople('ann')
  const full = await runImport(limited)
  assert.equal(full.code, 1)
  assert.match(full.err, /GALLERY_FULL: .*delete subjects/u)
  await limited.value('svc.deleteSubject', { subjectId })
  const { code, out, err } = await runImport(limited)
  assert.deepEqual([code, out], [0, '1 enrolled, 0 refused, 0 done before\n'], err)
})

test('an image is skipped only if the journal lists it as enrolled in the same project', async () => {
  await writePeople('cleo')
  const first = await runImport(gallery)
  assert.deepEqual(
    [first.code, first.out],
    [0, '1 enrolled, 0 refused, 0 done before\n'],
    first.err,
  )
  const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const second = await runImport(other)
  assert.equal(second.out, '1 enrolled, 0 refused, 0 done before\n', second.err)
  assert.equal((await other.rest('GET', '/v1/subjects')).body.items.length, 1)
  for (const client of [gallery, other]) {
    const again = await runImport(client)
    assert.deepEqual([again.code, again.out], [0, '0 enrolled, 0 refused, 1 done before\n'])
    assert.match(
      again.err,
      /1 image not sent: .*\/journal; to send all images, pass another --journal/u,
    )
  }
})

test('an import refuses a journal that is another file, and leaves it unchanged', async () => {
  await writePeople('fay')
  await writeFile(journal, 'file,externalId\nfay.jpg,1\n')
  const { code, err } = await runImport(gallery)
  assert.equal(code, 1)
  assert.match(err, /--journal: .*\/journal is not a journal of an import; name another file/u)
  assert.equal(await readFile(journal, 'utf8'), 'file,externalId\nfay.jpg,1\n')
})

test('an import continues a journal whose first line is incomplete', async () => {
  await writePeople('gil')
  await writeFile(journal, '{"projectI')
  const { code, out } = await runImport(gallery)
  assert.deepEqual([code, out.split(',')[0]], [0, '1 enrolled'])
})

test('an import without pending images also checks the service and the key', async () => {
  await writePeople('dan')
  await runImport(gallery)
  const port = await freePort()
  const stopped = await runImport({ url: `http://127.0.0.1:${port}`, key: gallery.key })
  assert.equal(stopped.code, 1)
  assert.match(stopped.err, /cannot be reached/u)
  const rejected = await runImport({ url: gallery.url, key: 'fsk_live_wrong' })
  assert.equal(rejected.code, 1)
  assert.match(rejected.err, /the service rejects the key/u)
})

test('an import that cannot read the project of its key ends before an image is sent', async () => {
  await writePeople('eve')
  const service = createServer((request, response) => {
    response.writeHead(503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ detail: `${request.url} is down.` }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  const { code, err } = await runImport({ url: `http://127.0.0.1:${port}`, key: gallery.key })
  service.close()
  assert.equal(code, 1)
  assert.match(err, /returned HTTP 503: \/v1\/me is down; check --url, or run the command later/u)
})
