import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { download, downloadLimits } from '../../src/models/install/download.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import {
  startModelServer,
  type ModelServer,
  type ServedFile,
} from '../support/models/model-server.ts'

const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31 + (at >> 8)) % 256)
const etag = '"of-the-file"'
const limits = { ...downloadLimits, resumeWaitMs: 1 }

let folder: string
let targetFile: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-download-'))
  targetFile = path.join(folder, 'net.onnx')
})
afterEach(() => rm(folder, { recursive: true }))

/** Fetches what a source serves. @returns the size after each piece. */
async function fetchFrom(
  source: ModelServer,
  { sha256 = sha256Of(bytes), ...others }: Partial<typeof limits> & { sha256?: string | null } = {},
): Promise<number[]> {
  const sizes: number[] = []
  const onProgress = (done: number, total: number | null): void => {
    sizes.push(done)
    source.reportReceivedBytes(done)
    assert.ok(total === null || total >= done)
  }
  const given = { url: source.url('net.onnx'), path: targetFile, sha256, onProgress }
  assert.equal(
    await download(given, { ...limits, ...others }),
    sha256Of(await readFile(targetFile)),
  )
  assert.deepEqual(await readdir(folder), ['net.onnx'])
  return sizes
}

const startServer = (served: Partial<ServedFile> = {}): Promise<ModelServer> =>
  startModelServer({ 'net.onnx': { bytes, etag, ...served } })

test('a file is fetched, counted and checked', async () => {
  await using source = await startServer()
  assert.equal((await fetchFrom(source)).at(-1), bytes.length)
  assert.deepEqual(source.requests, ['net.onnx'])
})

test('a file of an unknown checksum is taken as it comes, and its checksum told', async () => {
  await using source = await startServer({ isLengthOmitted: true })
  await fetchFrom(source, { sha256: null })
})

test('a connection that is cut is taken up where it stopped', async () => {
  await using source = await startServer({ disconnectAfterBytes: [100_000, 50_000] })
  const sizes = await fetchFrom(source)
  assert.deepEqual(source.requests, [
    'net.onnx',
    'net.onnx bytes=100000-',
    'net.onnx bytes=150000-',
  ])
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  )
})

test('a later run goes on with the part of an earlier one', async () => {
  await using source = await startServer({ disconnectAfterBytes: [100_000] })
  await assert.rejects(fetchFrom(source, { resumesMax: 0 }), /cannot fetch http:.*net\.onnx/u)
  assert.deepEqual(await readdir(folder), ['net.onnx.part', 'net.onnx.part.json'])
  await fetchFrom(source)
  assert.equal(source.requests[1], 'net.onnx bytes=100000-')
})

test('a part of a file that has changed since is thrown away', async () => {
  await using source = await startServer({
    bytes: bytes.toReversed(),
    etag: '"old"',
    disconnectAfterBytes: [100_000],
  })
  await assert.rejects(fetchFrom(source, { resumesMax: 0 }))
  source.files.set('net.onnx', { bytes, etag })
  await fetchFrom(source)
})

test('a source that cannot send parts, or cannot vouch for the file, sends all again', async () => {
  await using withoutRanges = await startServer({
    disconnectAfterBytes: [100_000],
    isRangeSupported: false,
  })
  await fetchFrom(withoutRanges)
  await rm(targetFile)
  await using withoutTag = await startModelServer({
    'net.onnx': { bytes, disconnectAfterBytes: [100_000] },
  })
  await fetchFrom(withoutTag)
  assert.deepEqual(withoutTag.requests, ['net.onnx', 'net.onnx'])
})

test('a part that was whole already is fetched again rather than believed', async () => {
  await using source = await startServer({
    bytes: Buffer.concat([bytes, bytes]),
    disconnectAfterBytes: [bytes.length],
  })
  await assert.rejects(fetchFrom(source, { resumesMax: 0 }))
  source.files.set('net.onnx', { bytes, etag })
  await fetchFrom(source)
  assert.deepEqual(source.requests, ['net.onnx', `net.onnx bytes=${bytes.length}-`, 'net.onnx'])
})

test('a file of another checksum is removed', async () => {
  await using source = await startServer()
  const sha256 = sha256Of(bytes.subarray(1))
  await assert.rejects(fetchFrom(source, { sha256 }), /is not the file of the manifest/u)
  assert.deepEqual(await readdir(folder), [])
})

test('a source that says no is asked once, one that is busy again', async () => {
  await using missing = await startModelServer({})
  await assert.rejects(fetchFrom(missing), /net\.onnx answered 404/u)
  assert.equal(missing.requests.length, 1)
  await using busy = await startServer({ statuses: [503, 429] })
  await fetchFrom(busy)
  await rm(targetFile)
  await using down = await startServer({ statuses: [500, 500, 500] })
  await assert.rejects(fetchFrom(down, { resumesMax: 2 }), /answered 500/u)
})

test('redirects are followed, but not for ever and not to where nothing is safe', async () => {
  await using source = await startServer({ redirect: '/there' })
  source.files.set('there', { bytes, etag })
  await fetchFrom(source)
  source.files.set('there', { bytes, redirect: '/net.onnx' })
  await assert.rejects(fetchFrom(source), /redirected more than 5 times/u)
  source.files.set('there', { bytes, redirect: 'http://models.invalid/net.onnx' })
  await assert.rejects(
    fetchFrom(source),
    /http:\/\/models\.invalid\/net\.onnx is not an address by/u,
  )
  const given = {
    url: 'http://models.invalid/x',
    path: targetFile,
    sha256: null,
    onProgress: () => {},
  }
  await assert.rejects(download(given, limits), /is not an address by https/u)
})

test('nobody can fill the disk: a file beyond the limit is refused, announced or not', async () => {
  for (const withoutLength of [false, true]) {
    await using source = await startServer({ isLengthOmitted: withoutLength })
    await assert.rejects(fetchFrom(source, { bytesMax: 100_000 }), /larger than 100000 bytes/u)
    assert.deepEqual(await readdir(folder), [])
  }
})

test('a source that falls silent is given up, and what came is kept', async () => {
  await using source = await startServer({ isStalledAtEnd: true })
  const given = { silenceMsMax: 2000, resumesMax: 0 }
  await assert.rejects(fetchFrom(source, given), /has sent nothing for too long/u)
  assert.deepEqual(await readdir(folder), ['net.onnx.part', 'net.onnx.part.json'])
})
