import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { cliMainFile } from '../support/paths.ts'

type ImportResult = { readonly code: number | null; readonly out: string; readonly err: string }

function runImport(gallery: TestGallery, folder: string, ...args: string[]): Promise<ImportResult> {
  const main = cliMainFile
  const child = spawn(
    process.execPath,
    [main, 'import', ...args, '--url', gallery.url, '--journal', path.join(folder, 'journal')],
    { env: { ...process.env, FACEGATE_KEY: gallery.key } },
  )
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

test('import enrolls folders and lists, says what was refused, and goes on where it ended', async () => {
  await using gallery = await startGallery()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-import-'))
  for (const [person, takes] of [
    ['ann', 2],
    ['ben', 1],
  ] as const) {
    await mkdir(path.join(folder, 'people', person), { recursive: true })
    for (let take = 0; take < takes; take++)
      await writeFile(
        path.join(folder, 'people', person, `${take}.jpg`),
        fakeImage({ name: person, deviation: 0.3, take }).bytes,
      )
  }
  await writeFile(path.join(folder, 'people', 'empty.jpg'), fakeImage().bytes)
  const people = path.join(folder, 'people')
  const first = await runImport(gallery, folder, people, '--json', '--group', 'guests')
  assert.equal(first.code, 0, first.err)
  const report = JSON.parse(first.out)
  assert.deepEqual([report.enrolled, report.skipped], [3, 0])
  assert.equal(report.refused[0].code, 'NO_FACE_FOUND')
  assert.match(first.err, /4 of 4 pictures/u)
  const again = JSON.parse((await runImport(gallery, folder, people, '--json')).out)
  assert.deepEqual([again.enrolled, again.skipped, again.refused.length], [0, 3, 1])
  const { body } = await gallery.rest('GET', '/v1/subjects?group=guests&externalId=ann')
  assert.equal(body.items[0].embeddingCount, 2)

  await writeFile(path.join(folder, 'cleo.jpg'), fakeImage('Cleo').bytes)
  const list = path.join(folder, 'list.csv')
  await writeFile(list, 'file,externalId,displayName,groups\ncleo.jpg,c-1,Cleo B,x y\n')
  const listed = await runImport(gallery, folder, list)
  assert.match(listed.out, /1 enrolled, 0 refused/u)
  const cleo = await gallery.rest('GET', '/v1/subjects?externalId=c-1')
  assert.equal(cleo.body.items[0].displayName, 'Cleo B')
  assert.deepEqual(cleo.body.items[0].groups, ['x', 'y'])

  await writeFile(list, 'subject,file\nc-1,cleo.jpg\nc-2,cleo.jpg\n')
  const bySubject = JSON.parse((await runImport(gallery, folder, list, '--json')).out)
  assert.deepEqual([bySubject.enrolled, bySubject.skipped], [1, 1], 'as CompreFace calls it')
  await writeFile(list, 'file,name\ncleo.jpg,Cleo\n')
  const nameless = await runImport(gallery, folder, list)
  assert.match(nameless.err, /row 1: the column externalId \(or subject\) is missing/u)
  await rm(folder, { recursive: true })
})

test('import says in one line what is wrong with its arguments or the key', async () => {
  await using gallery = await startGallery()
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-import-'))
  assert.equal((await runImport(gallery, folder)).code, 2)
  const empty = await runImport(gallery, folder, folder)
  assert.equal(empty.code, 1)
  assert.match(empty.err, /holds no pictures/u)
  await writeFile(path.join(folder, 'a.jpg'), fakeImage('A').bytes)
  const stranger = await runImport(gallery, folder, folder, '--key', 'fsk_live_wrong')
  assert.match(stranger.err, /refuses the key/u)
  await rm(folder, { recursive: true })
})
