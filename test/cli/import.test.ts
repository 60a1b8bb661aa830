import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCalls } from '../support/find-calls.ts'
import { keyCommands, project } from '../../src/cli/tenancy/commands.ts'
import { runCli, startCli, type CliResult } from '../support/cli/run-cli.ts'
import { runJson } from '../support/cli/run-json.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { freePort } from '../support/network/free-port.ts'

let gallery: TestGallery
let folder: string
/** Replaced by a test that keeps images in analysis. */
let onAnalyze = async (): Promise<void> => {}
before(async () => {
  gallery = await startGallery({ onAnalyze: () => onAnalyze() })
  process.env['FACEGATE_KEY'] = gallery.key
})
after(() => gallery[Symbol.asyncDispose]())
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-import-'))
})
afterEach(() => rm(folder, { recursive: true }))

function runImport(...args: string[]): Promise<CliResult> {
  return runCli(['import', ...args, ...serverOptions()])
}

const serverOptions = () => ['--url', gallery.url, '--journal', path.join(folder, 'journal')]

/** Writes one image per person and returns their folder. */
async function writePeople(...names: string[]): Promise<string> {
  const people = path.join(folder, 'people')
  await mkdir(people, { recursive: true })
  for (const name of names)
    await writeFile(path.join(people, `${name}.jpg`), fakeImage(`${folder} ${name}`).bytes)
  return people
}

/** The calls of `svc.enroll` with a key. */
async function countEnrollments(keyId: string): Promise<number> {
  const filter = { keyId, action: 'svc.enroll', limit: 1000 }
  return (await findCalls(gallery.database.store.db, filter)).length
}

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
  const options = ['--groups', 'guests, day-pass', '--concurrency', '2']
  const first = await runImport(people, '--json', ...options)
  assert.equal(first.code, 1, first.err)
  const report = JSON.parse(first.out)
  assert.deepEqual([report.enrolled, report.skipped, report.remaining], [3, 0, 0])
  assert.equal(report.refused[0].code, 'NO_FACE_FOUND')
  assert.match(first.err, /^rate: 10000 images per second, the limit of the project\n/u)
  assert.match(first.err, /4 of 4 images/u)
  assert.match(
    first.err,
    /refused: 1 image; correct what is wrong, then run: facegate import \S+people /u,
  )
  const again = JSON.parse((await runImport(people, '--json', '--groups', 'guests')).out)
  assert.deepEqual([again.enrolled, again.skipped, again.refused.length], [0, 3, 1])
  const { body } = await gallery.rest('GET', '/v1/subjects?group=guests&externalId=ann')
  assert.equal(body.items[0].embeddingCount, 2)
  assert.deepEqual(body.items[0].groups.toSorted(), ['day-pass', 'guests'])
})

test('a list is imported by its columns, also in the format of CompreFace', async () => {
  await writeFile(path.join(folder, 'cleo.jpg'), fakeImage('Cleo').bytes)
  const list = path.join(folder, 'list.csv')
  await writeFile(list, 'file,externalId,displayName,groups\ncleo.jpg,c-1,Cleo B,x y\n')
  const first = await runImport(list)
  assert.deepEqual(
    [first.code, first.out],
    [0, '1 enrolled, 0 refused, 0 done before\n'],
    first.err,
  )
  const cleo = await gallery.rest('GET', '/v1/subjects?externalId=c-1')
  assert.equal(cleo.body.items[0].displayName, 'Cleo B')
  assert.deepEqual(cleo.body.items[0].groups, ['x', 'y'])

  await writeFile(list, 'subject,file\nc-1,cleo.jpg\nc-2,cleo.jpg\nc-3,gone.jpg\n')
  const bySubject = await runImport(list, '--json')
  const { enrolled, skipped, refused } = JSON.parse(bySubject.out)
  assert.deepEqual([enrolled, skipped, refused.length], [1, 1, 1], 'subject of CompreFace')
  assert.equal(bySubject.code, 1, 'a file of the list is missing')
  assert.match(refused[0].message, /^\/.*gone\.jpg does not exist$/u)
})

test('--face-policy decides about images with further faces', async () => {
  const people = path.join(folder, 'people')
  await mkdir(people)
  const image = fakeImage('Front', { name: 'Behind', deviation: 0 })
  await writeFile(path.join(people, 'front.jpg'), image.bytes)
  for (const policy of ['single', 'strict']) {
    const { code, out } = await runImport(people, '--face-policy', policy)
    assert.equal(code, 1)
    assert.match(out, /front\.jpg: MULTIPLE_FACES: .*; or pass --face-policy largest\n/u)
  }
  const largest = await runImport(people, '--face-policy', 'largest')
  assert.deepEqual([largest.code, largest.out.slice(0, 10)], [0, '1 enrolled'], largest.err)
  const other = await runImport(people, '--face-policy', 'biggest')
  assert.equal(other.code, 2)
  assert.match(other.err, /--face-policy must be single, largest or strict, not biggest/u)
})

test('invalid arguments, lists and addresses are reported in one line before an image is sent', async () => {
  const people = await writePeople('ann')
  const list = path.join(folder, 'list.csv')
  await mkdir(path.join(folder, 'empty'))
  await writeFile(list, 'file,name\na.jpg,Ann\n')
  const other = path.join(folder, 'other.csv')
  await writeFile(other, 'picture,externalId\na.jpg,Ann\n')
  const port = await freePort()
  const refusals: readonly (readonly [args: string[], code: number, message: RegExp])[] = [
    [[], 2, /<folder\|list\.csv> was not given/u],
    [[path.join(folder, 'empty')], 1, /\/empty contains no images/u],
    [[path.join(folder, 'none')], 1, /^facegate: \/\S+\/none does not exist; pass a folder/u],
    [[path.join(people, 'ann.jpg')], 1, /ann\.jpg is an image; pass its folder/u],
    [[list], 1, /list\.csv, line 2: the column externalId \(or subject\) is missing/u],
    [[other], 1, /other\.csv, line 1: the header has no column file;/u],
    [[people, '--groups', 'a,,b'], 2, /--groups must be one or more texts separated by commas/u],
    [[people, '--rate', '0'], 2, /--rate must be a whole number from 1 to 10000, not 0/u],
    [[people, '--group', 'a'], 2, /--group is not an option .* did you mean --groups\?/u],
    [
      [people, '--key', 'fsk_live_wrong'],
      1,
      /rejects the key: .*; create a key with facegate key/u,
    ],
    [
      [people, '--url', `http://127.0.0.1:${port}/`],
      1,
      /127\.0\.0\.1:\d+ cannot be reached: no service listens there; start the service, or pass/u,
    ],
  ]
  const results = await Promise.all(
    refusals.map(([args]) => {
      const isUrlGiven = args.includes('--url')
      return isUrlGiven ? runCli(['import', ...args]) : runImport(...args)
    }),
  )
  for (const [index, { code, out, err }] of results.entries()) {
    const [, expectedCode, message] = refusals[index] ?? []
    assert.deepEqual([code, out], [expectedCode, ''], err)
    assert.match(err, message ?? /./u)
    assert.match(err, /^facegate: [^\n]+\n$/u)
  }
})

test('an error that every image would have ends the import with its remedy, and it can be resumed', async () => {
  const people = await writePeople(...Array.from({ length: 12 }, (_, index) => `p${index}`))
  const run = (line: string, command = keyCommands) => runJson(gallery.dataDir, command, line)
  await run('create empty', project)
  const poor = await run('create --project empty')
  const reader = await run('create --project empty --permissions subjects:read,svc.detect')
  const cases: readonly (readonly [key: string, args: string[], message: RegExp])[] = [
    [
      poor.key,
      [],
      /PAYMENT_REQUIRED: .*; add money with facegate wallet top-up .*, then facegate budget allocate/u,
    ],
    [reader.key, [], /FORBIDDEN: .*; create a key with facegate key create .* svc\.enroll/u],
    [
      gallery.key,
      ['--groups', 'g'.repeat(200)],
      /INVALID_REQUEST: params\.groups.*correct the option/u,
    ],
  ]
  for (const [key, args, message] of cases) {
    const { code, out, err } = await runImport(people, '--key', key, '--concurrency', '2', ...args)
    assert.equal(code, 1, err)
    assert.match(out, /^0 enrolled, 0 refused, 0 done before, 12 not sent\n$/u)
    assert.match(err, message)
    assert.match(
      err,
      /\n12 images left; resume with: facegate import \S+people --url \S+ --key '<key>'/u,
    )
    assert.doesNotMatch(err, /fsk_live_/u, 'the key is not printed')
  }
  assert.ok((await countEnrollments(reader.keyId)) <= 2, 'at most one call for each sender')
  const resumed = await runImport(people)
  assert.equal(resumed.code, 0, resumed.err)
  assert.match(resumed.out, /^12 enrolled/u)
})

test('Ctrl-C completes the images in flight, states how to resume and exits with 130', async () => {
  const people = await writePeople('a', 'b', 'c', 'd', 'e')
  const analysis = Promise.withResolvers<void>()
  const analyzed: Promise<void>[] = []
  onAnalyze = () => {
    analyzed.push(analysis.promise)
    return analysis.promise
  }
  const args = ['import', people, '--concurrency', '2', '--json']
  const { process: child, result } = startCli([...args, ...serverOptions()])
  let messages = ''
  child.stderr?.on('data', (chunk: Buffer) => (messages += chunk.toString()))
  while (analyzed.length < 2 && child.exitCode === null) await sleep(20)
  child.kill('SIGINT')
  while (!messages.includes('Ctrl-C again') && child.exitCode === null) await sleep(20)
  analysis.resolve()
  const { code, out, err } = await result
  onAnalyze = async () => {}
  assert.equal(code, 130, err)
  const report = JSON.parse(out)
  assert.deepEqual([report.enrolled, report.remaining, analyzed.length], [2, 3, 2])
  assert.match(err, /facegate: interrupted; 3 images left; resume with: facegate import /u)
  const resumed = await runImport(people)
  assert.deepEqual([resumed.code, resumed.out], [0, '3 enrolled, 0 refused, 2 done before\n'])
})

test('the rate is that of the option or of the project, whichever is lower', async () => {
  const people = await writePeople('a', 'b', 'c', 'd', 'e')
  const run = (line: string, command = keyCommands) => runJson(gallery.dataDir, command, line)
  const { project: limited, key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await run(`set ${limited.projectId} --sustained 20 --burst 5`, project)
  const rates = [
    [[], 20, /^rate: 20 images per second, the limit of the project\n/u],
    [['--rate', '50'], 20, /^rate: 20 .*the limit of the project; --rate 50 is above it\n/u],
    [['--rate', '10'], 10, /^rate: 10 images per second \(--rate\); the project allows 20\n/u],
  ] as const
  for (const [args, perS, message] of rates) {
    const startMs = performance.now()
    const { code, err } = await runImport(people, '--key', key, ...args)
    const elapsedMs = performance.now() - startMs
    assert.equal(code, 0, err)
    assert.match(err, message)
    assert.ok(elapsedMs >= (5 * 1000) / perS, 'the images are spread over time')
    await rm(path.join(folder, 'journal'))
  }
})

test('without a stated limit, the rate is derived from an answer RATE_LIMITED', async () => {
  const people = await writePeople('a', 'b', 'c')
  const requests: string[] = []
  const service = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      requests.push(request.url ?? '')
      const isLimited = requests.length === 2
      const errors = isLimited ? [{ code: 'RATE_LIMITED', message: 'The limit is exceeded.' }] : []
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(isLimited && { 'ratelimit-limit': '60', 'ratelimit-reset': '2', 'retry-after': '0' }),
      })
      const project = { projectId: 'project' }
      response.end(JSON.stringify({ ok: !isLimited, errors, project }))
    })
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  const journal = path.join(folder, 'journal')
  const url = `http://127.0.0.1:${port}`
  const options = ['--url', url, '--concurrency', '1', '--journal', journal]
  const { code, err } = await runCli(['import', people, ...options])
  service.close()
  assert.equal(code, 0, err)
  assert.match(err, /^rate: not limited, because the service does not state the limit/u)
  assert.match(err, /rate: 30 images per second, from an answer RATE_LIMITED\n/u)
  assert.equal(requests.length, 5, 'the check, three images and one retry')
  assert.equal((await readFile(journal, 'utf8')).trim().split('\n').length, 3)
})
