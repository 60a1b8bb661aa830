import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { importFaces } from '../../src/cli/import/command.ts'
import { runCli, type CliResult } from '../support/cli/run-cli.ts'
import { runLines } from '../support/cli/run-json.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
let folder: string
before(async () => {
  gallery = await startGallery()
  process.env['FACEGATE_KEY'] = gallery.key
})
after(() => gallery[Symbol.asyncDispose]())
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-import-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Runs the command in a child process. */
function spawnImport(...args: string[]): Promise<CliResult> {
  return runCli(['import', ...args, ...serverOptions()])
}

/** Runs the command in this process, which is faster, and returns its standard output. */
async function runImport(...args: string[]): Promise<string> {
  const line = [...args, ...serverOptions()].join(' ')
  return (await runLines(folder, importFaces, line)).join('\n')
}

const serverOptions = () => ['--url', gallery.url, '--journal', path.join(folder, 'journal')]

test('a folder is imported by the names of its folders, and a second run continues the first', async () => {
  const people = path.join(folder, 'people')
  for (const [person, takes] of [
    ['ann', 2],
    ['ben', 1],
  ] as const) {
    await mkdir(path.join(people, person), { recursive: true })
    for (let take = 0; take < takes; take++)
      await writeFile(
        path.join(people, person, `${take}.jpg`),
        fakeImage({ name: person, deviation: 0.3, take }).bytes,
      )
  }
  await writeFile(path.join(people, 'empty.jpg'), fakeImage().bytes)
  const first = await spawnImport(people, '--json', '--group', 'guests', '--concurrency', '2')
  assert.equal(first.code, 0, first.err)
  const report = JSON.parse(first.out)
  assert.deepEqual([report.enrolled, report.skipped], [3, 0])
  assert.equal(report.refused[0].code, 'NO_FACE_FOUND')
  assert.match(first.err, /4 of 4 images/u)
  const again = JSON.parse(await runImport(people, '--json'))
  assert.deepEqual([again.enrolled, again.skipped, again.refused.length], [0, 3, 1])
  const { body } = await gallery.rest('GET', '/v1/subjects?group=guests&externalId=ann')
  assert.equal(body.items[0].embeddingCount, 2)
})

test('a list is imported by its columns, also in the format of CompreFace', async () => {
  await writeFile(path.join(folder, 'cleo.jpg'), fakeImage('Cleo').bytes)
  const list = path.join(folder, 'list.csv')
  await writeFile(list, 'file,externalId,displayName,groups\ncleo.jpg,c-1,Cleo B,x y\n')
  assert.match(await runImport(list), /1 enrolled, 0 rejected/u)
  const cleo = await gallery.rest('GET', '/v1/subjects?externalId=c-1')
  assert.equal(cleo.body.items[0].displayName, 'Cleo B')
  assert.deepEqual(cleo.body.items[0].groups, ['x', 'y'])

  await writeFile(list, 'subject,file\nc-1,cleo.jpg\nc-2,cleo.jpg\n')
  const bySubject = JSON.parse(await runImport(list, '--json'))
  assert.deepEqual([bySubject.enrolled, bySubject.skipped], [1, 1], 'subject of CompreFace')
})

test('invalid arguments, lists and keys are reported in one line', async () => {
  const image = path.join(folder, 'images')
  const empty = path.join(folder, 'empty')
  const list = path.join(folder, 'list.csv')
  await Promise.all([mkdir(image), mkdir(empty)])
  await writeFile(path.join(image, 'a.jpg'), fakeImage('A').bytes)
  await writeFile(list, 'file,name\na.jpg,Ann\n')
  const { code, err } = await spawnImport()
  assert.equal(code, 2)
  assert.match(err, /^facegate: expected one argument, <folder\|list\.csv>[^\n]*\n$/u)
  await assert.rejects(runImport(empty), /contains no images/u)
  await assert.rejects(runImport(list), /row 1: the column externalId \(or subject\) is missing/u)
  await assert.rejects(runImport(image, '--key', 'fsk_live_wrong'), /rejects the key/u)
})
