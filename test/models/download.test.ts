import assert from 'node:assert/strict'
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { download, downloadLimits, fetchFile } from '../../src/models/install/fetch-file.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import {
  startModelServer,
  type ModelServer,
  type ServedFile,
} from '../support/models/model-server.ts'

const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31 + (index >> 8)) % 256)
const etag = '"current"'
const limits = { ...downloadLimits, resumeDelayMs: 1 }

let folder: string
let targetFile: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-download-'))
  targetFile = path.join(folder, 'net.onnx')
})
afterEach(() => rm(folder, { recursive: true }))

/** Downloads the file of a server. @returns the received bytes after each chunk. */
async function downloadFrom(
  server: ModelServer,
  {
    sha256 = sha256Of(bytes),
    ...otherLimits
  }: Partial<typeof limits> & { sha256?: string | null } = {},
): Promise<number[]> {
  const sizes: number[] = []
  const onProgress = (received: number, total: number | null): void => {
    sizes.push(received)
    server.reportReceivedBytes(received)
    assert.ok(total === null || total >= received)
  }
  const request = { url: server.url('net.onnx'), path: targetFile, sha256, onProgress }
  assert.equal(
    await download(request, { ...limits, ...otherLimits }),
    sha256Of(await readFile(targetFile)),
  )
  assert.deepEqual(await readdir(folder), ['net.onnx'])
  return sizes
}

const startServer = (served: Partial<ServedFile> = {}): Promise<ModelServer> =>
  startModelServer({ 'net.onnx': { bytes, etag, ...served } })

test('a file is downloaded and checked, and its progress is reported', async () => {
  await using server = await startServer()
  assert.equal((await downloadFrom(server)).at(-1), bytes.length)
  assert.deepEqual(server.requests, ['net.onnx'])
})

test('a file without a known checksum is accepted, and its checksum is returned', async () => {
  await using server = await startServer({ isLengthOmitted: true })
  await downloadFrom(server, { sha256: null })
})

test('an interrupted download is resumed at the same offset', async () => {
  await using server = await startServer({ disconnectAfterBytes: [100_000, 50_000] })
  const sizes = await downloadFrom(server)
  assert.deepEqual(server.requests, [
    'net.onnx',
    'net.onnx bytes=100000-',
    'net.onnx bytes=150000-',
  ])
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  )
})

test('a later run resumes the partial download of an earlier one', async () => {
  await using server = await startServer({ disconnectAfterBytes: [100_000] })
  await assert.rejects(downloadFrom(server, { resumesMax: 0 }), /cannot download http:.*net\.onnx/u)
  assert.deepEqual(await readdir(folder), ['net.onnx.part', 'net.onnx.part.json'])
  await downloadFrom(server)
  assert.equal(server.requests[1], 'net.onnx bytes=100000-')
})

test('the partial download of a changed file is discarded', async () => {
  await using server = await startServer({
    bytes: bytes.toReversed(),
    etag: '"old"',
    disconnectAfterBytes: [100_000],
  })
  await assert.rejects(downloadFrom(server, { resumesMax: 0 }))
  server.files.set('net.onnx', { bytes, etag })
  await downloadFrom(server)
})

test('without range support or a validator the download starts from the beginning', async () => {
  await using withoutRanges = await startServer({
    disconnectAfterBytes: [100_000],
    isRangeSupported: false,
  })
  await downloadFrom(withoutRanges)
  await rm(targetFile)
  await using withoutTag = await startModelServer({
    'net.onnx': { bytes, disconnectAfterBytes: [100_000] },
  })
  await downloadFrom(withoutTag)
  assert.deepEqual(withoutTag.requests, ['net.onnx', 'net.onnx'])
})

test('a partial download that is already complete is downloaded again', async () => {
  await using server = await startServer({
    bytes: Buffer.concat([bytes, bytes]),
    disconnectAfterBytes: [bytes.length],
  })
  await assert.rejects(downloadFrom(server, { resumesMax: 0 }))
  server.files.set('net.onnx', { bytes, etag })
  await downloadFrom(server)
  assert.deepEqual(server.requests, ['net.onnx', `net.onnx bytes=${bytes.length}-`, 'net.onnx'])
})

test('a file with a wrong checksum is deleted', async () => {
  await using server = await startServer()
  const sha256 = sha256Of(bytes.subarray(1))
  await assert.rejects(
    downloadFrom(server, { sha256 }),
    /does not match the checksum in the manifest/u,
  )
  assert.deepEqual(await readdir(folder), [])
})

test('a 404 response is not retried; 5xx and 429 responses are', async () => {
  await using missing = await startModelServer({})
  await assert.rejects(downloadFrom(missing), /net\.onnx returned HTTP 404/u)
  assert.equal(missing.requests.length, 1)
  await using busy = await startServer({ statuses: [503, 429] })
  await downloadFrom(busy)
  await rm(targetFile)
  await using down = await startServer({ statuses: [500, 500, 500] })
  await assert.rejects(downloadFrom(down, { resumesMax: 2 }), /returned HTTP 500/u)
})

test('redirects are followed up to a limit and never to an insecure URL', async () => {
  await using server = await startServer({ redirect: '/there' })
  server.files.set('there', { bytes, etag })
  await downloadFrom(server)
  server.files.set('there', { bytes, redirect: '/net.onnx' })
  await assert.rejects(downloadFrom(server), /redirected more than 5 times/u)
  server.files.set('there', { bytes, redirect: 'http://models.invalid/net.onnx' })
  await assert.rejects(
    downloadFrom(server),
    /http:\/\/models\.invalid\/net\.onnx is not an HTTPS address/u,
  )
  const request = {
    url: 'http://models.invalid/x',
    path: targetFile,
    sha256: null,
    onProgress: () => {},
  }
  await assert.rejects(download(request, limits), /is not an HTTPS address/u)
})

test('a file above the size limit is rejected, with or without a content length', async () => {
  for (const isLengthOmitted of [false, true]) {
    await using server = await startServer({ isLengthOmitted })
    await assert.rejects(downloadFrom(server, { bytesMax: 100_000 }), /larger than 100000 bytes/u)
    assert.deepEqual(await readdir(folder), [])
  }
})

test('a device, a folder and a file above the size limit are not copied', async () => {
  await symlink('/dev/zero', path.join(folder, 'device'))
  await mkdir(path.join(folder, 'directory'))
  await writeFile(path.join(folder, 'sparse'), '')
  await truncate(path.join(folder, 'sparse'), downloadLimits.bytesMax + 1)
  const options = { filesFolder: folder, onProgress: () => {} }
  for (const sourceName of ['device', 'directory', 'sparse']) {
    const file = { name: 'net.onnx', sourceName, sha256: null, source: undefined }
    await assert.rejects(
      fetchFile(folder, file, options),
      new RegExp(`${sourceName} is not a file of at most ${downloadLimits.bytesMax} bytes`, 'u'),
    )
  }
  assert.ok(!(await readdir(folder)).includes('net.onnx'))
})

test('a stalled download fails after the idle timeout and keeps the received bytes', async () => {
  await using server = await startServer({ isStalledAtEnd: true })
  const idleLimits = { idleMsMax: 500, resumesMax: 0 }
  // On a slow machine, the time of the first attempts can pass before any data arrives.
  const receivedBytes = async () => (await stat(`${targetFile}.part`).catch(() => null))?.size ?? 0
  for (let attempt = 1; (await receivedBytes()) < bytes.length - 1; attempt++) {
    assert.ok(attempt <= 60, 'the received bytes are kept')
    await assert.rejects(downloadFrom(server, idleLimits), /sent no data for 500 ms/u)
  }
  assert.deepEqual(await readdir(folder), ['net.onnx.part', 'net.onnx.part.json'])
})
