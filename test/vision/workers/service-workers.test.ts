import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { samplePhotograph, type TestImage } from '../../support/facegate/test-facegate.ts'
import { spawnFacegate, type FacegateProcess } from '../../support/facegate/spawn-facegate.ts'

/** Returns the process ids of the vision workers, which are the child processes of the server. */
async function workerIds({ process: { pid } }: FacegateProcess): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')),
  )
  return lists
    .flatMap((list) => list.trim().split(/\s+/u))
    .filter(Boolean)
    .map(Number)
}

/** Returns `count` different images, because the crash quarantine treats equal images as one. */
async function createDistinctImages(count: number): Promise<TestImage[]> {
  const { bytes } = await samplePhotograph(3)
  return Promise.all(
    Array.from({ length: count }, async (_, nth) => ({
      bytes: await sharp(bytes)
        .resize(640 + nth)
        .jpeg()
        .toBuffer(),
      contentType: 'image/jpeg',
    })),
  )
}

/** Longer than the start of a worker takes on a slow machine. */
const waitMsMax = 60_000

async function waitUntilReady(url: string, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs
  while (performance.now() < endMs) {
    if ((await fetch(`${url}/readyz`)).status === 200) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

let cache: string
/** A service with two workers. The last test kills it. */
let facegate: FacegateProcess
before(async () => {
  cache = await mkdtemp(path.join(tmpdir(), 'facegate-compiled-'))
  facegate = await spawnFacegate({
    VISION_WORKERS: '2',
    VISION_QUEUE_PER_WORKER_MAX: '50',
    VISION_QUEUE_WAIT_MS_MAX: '500000',
    CALL_TIMEOUT_MS: '600000',
    NODE_COMPILE_CACHE: cache,
  })
})
after(async () => {
  await facegate[Symbol.asyncDispose]()
  await rm(cache, { recursive: true })
})

test('kill -9 of a worker during 50 calls costs at most one call', async () => {
  const calls = (await createDistinctImages(50)).map((image) => facegate.run('svc.detect', image))
  await Promise.race(calls)
  const [victim] = await workerIds(facegate)
  assert.ok(victim)
  process.kill(victim, 'SIGKILL')
  const responses = await Promise.all(calls)
  const lost = responses.filter(({ status }) => status !== 200)
  assert.ok(lost.length <= 1, `${lost.length} calls were lost`)
  for (const { status, headers } of lost) {
    assert.equal(status, 503)
    assert.ok(Number(headers.get('retry-after')) >= 1)
  }
  for (const { body } of responses.filter(({ status }) => status === 200))
    assert.equal(body.data.results[0].value.faceCount, 3)
  assert.ok(await waitUntilReady(facegate.url, waitMsMax))
  assert.equal((await facegate.run('svc.detect', await samplePhotograph(3))).body.ok, true)
})

test('Calls beyond the queue limit receive 503 with Retry-After, the others succeed', async () => {
  await using single = await spawnFacegate({
    VISION_WORKERS: '1',
    VISION_QUEUE_PER_WORKER_MAX: '10',
  })
  const images = await createDistinctImages(30)
  const responses = await Promise.all(images.map((image) => single.run('svc.detect', image)))
  const rejected = responses.filter(({ status }) => status === 503)
  assert.ok(rejected.length >= 1, 'the queue is bounded')
  assert.ok(rejected.length <= 19, 'one call runs and ten wait')
  for (const { headers } of rejected) assert.ok(Number(headers.get('retry-after')) >= 1)
  for (const { status, body } of responses) assert.ok(status === 503 || body.ok)
})

test('The workers exit with the server, even if it is killed, and have cached their code', async () => {
  const workers = await workerIds(facegate)
  assert.equal(workers.length, 2)
  // A call follows the flush of the cache, which follows the readiness.
  assert.equal((await facegate.run('svc.detect', await samplePhotograph(3))).body.ok, true)
  facegate.process.kill('SIGKILL')
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const endMs = performance.now() + waitMsMax
  while (workers.some(isAlive) && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(workers.filter(isAlive), [])
  // The killed server has written nothing.
  assert.ok((await readdir(cache, { recursive: true })).length > 50)
})
