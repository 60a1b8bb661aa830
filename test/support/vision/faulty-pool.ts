/** A pool of workers that do what the picture's text says, and what tests ask of it. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'

import { HttpError } from '../../../src/lib/errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { builtinSet } from '../../../src/models/model-set.ts'
import { openVisionPool } from '../../../src/vision/workers/vision-pool.ts'
import type {
  VisionPoolOptions,
  AnalyzeImageOptions,
  VisionPool,
} from '../../../src/vision/workers/vision-pool.ts'

/** A pool of `faulty-worker.ts`; without further options, of one that logs nothing. */
export function openFaultyPool(options: Partial<VisionPoolOptions> = {}): VisionPool {
  return openVisionPool({
    workers: 1,
    modelsFolder: 'any',
    modelSet: builtinSet,
    limits: { bytesMax: 1, pixelsMax: 1, sideMinPx: 1 },
    clock: () => 0,
    log: createLog('silent'),
    entryModule: new URL('./faulty-worker.ts', import.meta.url),
    ...options,
  })
}

/** A log and what was written to it: "level, message, fields". */
export function createRecordingLog() {
  const lines: string[] = []
  const note = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${inspect(fields)}`)
  const log = { debug: note('debug'), warn: note('warn'), error: note('error') }
  return { lines, log: log as VisionPoolOptions['log'] }
}

/** Has the pool look at a picture whose text tells the worker what to do. */
export function analyze(pool: VisionPool, bytes: string, call: Partial<AnalyzeImageOptions> = {}) {
  return pool.analyzeImage(
    { bytes, contentType: 'image/jpeg' },
    { minFaceConfidence: 0.5, minFaceSizePx: 1, maxFaces: 1, crops: false },
    { projectId: 'project', path: 'params.images[0]', ...call },
  )
}

/** Whether a call was told to come again in a second. */
export const isOverloaded = (error: unknown) =>
  error instanceof HttpError && error.status === 503 && error.headers['retry-after'] === '1'

export async function waitUntil(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 20_000
  while (!condition()) {
    assert.ok(Date.now() < deadlineMs, `still not: ${String(condition)}`)
    await pause(5)
  }
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
