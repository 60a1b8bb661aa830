import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import sharp from 'sharp'
import { samplePhotograph, type TestImage } from '../../support/facegate/test-facegate.ts'
import { spawnFacegate, type FacegateProcess } from '../../support/facegate/spawn-facegate.ts'

/** The process ids of the vision workers, which are the children of the service. */
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

/** Fifty different pictures, so that no two are one and the same to the guard against poison. */
async function createDistinctImages(count: number): Promise<TestImage[]> {
  const { bytes } = await samplePhotograph(3)
  return Promise.all(
    Array.from({ length: count }, async (_, n) => ({
      bytes: await sharp(bytes)
        .resize(640 + n)
        .jpeg()
        .toBuffer(),
      contentType: 'image/jpeg',
    })),
  )
}

async function waitUntilReady(url: string, forMs: number): Promise<boolean> {
  const endMs = performance.now() + forMs
  while (performance.now() < endMs) {
    if ((await fetch(`${url}/readyz`)).status === 200) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

test('kill -9 of a worker amid 50 calls costs at most the calls in it', async () => {
  const settings = {
    VISION_WORKERS: '2',
    VISION_QUEUE_PER_WORKER_MAX: '50',
    VISION_QUEUE_WAIT_MS_MAX: '60000',
  }
  await using facegate = await spawnFacegate(settings)
  const calls = (await createDistinctImages(50)).map((image) => facegate.run('svc.detect', image))
  await Promise.race(calls)
  const [victim] = await workerIds(facegate)
  assert.ok(victim)
  process.kill(victim, 'SIGKILL')
  const answers = await Promise.all(calls)
  const refused = answers.filter(({ status }) => status !== 200)
  assert.ok(refused.length <= 1, `${refused.length} calls were lost`)
  for (const { status, headers } of refused) {
    assert.equal(status, 503)
    assert.ok(Number(headers.get('retry-after')) >= 1)
  }
  for (const { body } of answers.filter(({ status }) => status === 200))
    assert.equal(body.data.results[0].value.faceCount, 3)
  assert.ok(await waitUntilReady(facegate.url, 3000))
  assert.equal((await facegate.run('svc.detect', await samplePhotograph(3))).body.ok, true)
})

test('more calls than the queue holds are answered 503 with Retry-After, the rest in full', async () => {
  await using facegate = await spawnFacegate({
    VISION_WORKERS: '1',
    VISION_QUEUE_PER_WORKER_MAX: '4',
  })
  const pictures = await createDistinctImages(30)
  const answers = await Promise.all(pictures.map((image) => facegate.run('svc.detect', image)))
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length >= 1, 'the queue is bounded')
  assert.ok(refused.length <= 25, 'one runs and four wait')
  for (const { headers } of refused) assert.ok(Number(headers.get('retry-after')) >= 1)
  for (const { status, body } of answers) assert.ok(status === 503 || body.ok)
})

test('the workers end with the service, even when it is killed', async () => {
  await using facegate = await spawnFacegate({ VISION_WORKERS: '2' })
  const workers = await workerIds(facegate)
  assert.equal(workers.length, 2)
  facegate.process.kill('SIGKILL')
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  for (let tries = 0; tries < 100 && workers.some(isAlive); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(workers.filter(isAlive), [])
})
