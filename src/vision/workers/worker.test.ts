import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { systemClock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { prepareBuiltinPack } from '../../models/builtin/prepare-builtin-pack.ts'
import { builtinSet } from '../../models/model-set.ts'
import { openVisionPool, type VisionPool } from './vision-pool.ts'

const resolvePath = (from: string) => fileURLToPath(new URL(`../../../${from}`, import.meta.url))
const modelsFolder = resolvePath('test/output/models')
const samples = resolvePath('node_modules/@vladmandic/face-api/demo')

/** The ids of the started worker processes, in order. */
const pids: number[] = []
const log = {
  debug: ({ workerPid }: { workerPid: number }) => void pids.push(workerPid),
  warn: () => undefined,
  error: () => undefined,
} as unknown as Log

let pool: VisionPool
let photograph: string

before(async () => {
  await prepareBuiltinPack({ folder: modelsFolder })
  photograph = await readFile(`${samples}/sample1.jpg`, 'base64')
  pool = openVisionPool({
    workers: 2,
    modelsFolder,
    modelSet: builtinSet,
    limits: { bytesMax: 8 * 1024 * 1024, pixelsMax: 40_000_000, sideMinPx: 32 },
    queuePerWorkerMax: 25,
    queueBytesMax: 256 * 1024 * 1024,
    queueWaitMsMax: 300_000,
    jobMsMax: 60_000,
    workerJobsMax: 5_000,
    clock: systemClock,
    log,
  })
  await until(() => pool.stats().workersUp === 2)
})

after(() => pool.close())

function analyze(bytes: string) {
  return pool.analyzeImage(
    { bytes, contentType: 'image/jpeg' },
    { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 10, crops: false },
    { accountId: 'account', projectId: 'project', path: 'params.images[0]' },
  )
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(10)
}

test('A worker finds the faces of a photograph', async () => {
  const analysis = await analyze(photograph)
  assert.ok(analysis.faceCount >= 1 && analysis.faces.length >= 1)
})

test('An image that the pipeline rejects is rejected with its error code', async () => {
  const truncated = photograph.slice(0, 4_000)
  await assert.rejects(analyze(truncated), { code: 'IMAGE_DECODE_FAILED' })
  await assert.rejects(analyze('no base64'), { code: 'INVALID_REQUEST' })
  // The low byte of this character is the letter A.
  await assert.rejects(analyze(`\u0141${photograph.slice(1)}`), { code: 'INVALID_REQUEST' })
  assert.equal(pool.stats().respawns, 0)
})

test('Signals to the process group do not stop a worker', async () => {
  for (const pid of pids) for (const signal of ['SIGINT', 'SIGTERM']) process.kill(pid, signal)
  await Promise.all([analyze(photograph), analyze(photograph)])
  assert.deepEqual([pool.stats().workersUp, pool.stats().respawns], [2, 0])
})

test('kill -9 during fifty calls costs one of them a 503, and the worker restarts', async (t) => {
  const calls = Array.from({ length: 50 }, () => analyze(photograph))
  const settled = Promise.allSettled(calls)
  await calls[10]
  process.kill(pids[0] ?? assert.fail(), 'SIGKILL')
  const killedAtMs = performance.now()
  await until(() => pool.stats().respawns === 1)
  await until(() => pool.stats().workersUp === 2)
  // On idle cores it takes less than 3 s; the time depends on the machine.
  t.diagnostic(`restarted after ${Math.round(performance.now() - killedAtMs)} ms`)
  const lost = (await settled).filter((result) => result.status === 'rejected')
  assert.ok(lost.length <= 1, `${lost.length} calls lost`)
  assert.ok(lost.every(({ reason }) => reason instanceof HttpError && reason.status === 503))
})
