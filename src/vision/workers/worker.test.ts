import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { systemClock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { builtinSet } from '../../models/model-set.ts'
import { prepareBuiltinPack } from '../../models/builtin/prepare-builtin-pack.ts'
import { openVisionPool } from './vision-pool.ts'
import type { VisionPool } from './vision-pool.ts'

const resolvePath = (from: string) => fileURLToPath(new URL(`../../../${from}`, import.meta.url))
const modelsFolder = resolvePath('test/output/models')
const samples = resolvePath('node_modules/@vladmandic/face-api/demo')

/** The processes that came up, in order. */
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
    queueWaitMsMax: 60_000,
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
    { projectId: 'project', path: 'params.images[0]' },
  )
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(10)
}

test('a worker finds the faces of a photograph', async () => {
  const view = await analyze(photograph)
  assert.ok(view.faceCount >= 1 && view.faces.length >= 1)
})

test('what the pipeline refuses is refused with its code', async () => {
  const truncated = photograph.slice(0, 4_000)
  await assert.rejects(analyze(truncated), { code: 'IMAGE_DECODE_FAILED' })
  await assert.rejects(analyze('no base64'), { code: 'INVALID_REQUEST' })
  // Its low byte alone would be the letter A.
  await assert.rejects(analyze(`\u0141${photograph.slice(1)}`), { code: 'INVALID_REQUEST' })
  assert.equal(pool.stats().respawns, 0)
})

test('signals to the process group do not end a worker', async () => {
  for (const pid of pids) for (const signal of ['SIGINT', 'SIGTERM']) process.kill(pid, signal)
  await Promise.all([analyze(photograph), analyze(photograph)])
  assert.deepEqual([pool.stats().workersUp, pool.stats().respawns], [2, 0])
})

test('kill -9 amid fifty calls costs one a 503, and in 3 s all workers are back', async () => {
  const calls = Array.from({ length: 50 }, () => analyze(photograph))
  const answers = Promise.allSettled(calls)
  await calls[10]
  process.kill(pids[0] ?? assert.fail(), 'SIGKILL')
  const killedAtMs = performance.now()
  await until(() => pool.stats().respawns === 1)
  await until(() => pool.stats().workersUp === 2)
  const backAfterMs = performance.now() - killedAtMs
  assert.ok(backAfterMs < 3_000, `back after ${Math.round(backAfterMs)} ms`)
  const lost = (await answers).filter((answer) => answer.status === 'rejected')
  assert.ok(lost.length <= 1, `${lost.length} calls lost`)
  assert.ok(lost.every(({ reason }) => reason instanceof HttpError && reason.status === 503))
})
