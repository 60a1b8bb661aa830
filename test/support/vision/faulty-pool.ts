/** A pool of workers that follow instructions in the image text; helpers for tests of the pool. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'

import { HttpError } from '../../../src/lib/errors.ts'
import { readConfig } from '../../../src/config.ts'
import { visionOptions } from '../../../src/start/vision-options.ts'
import { createLog } from '../../../src/lib/log.ts'
import { builtinSet } from '../../../src/models/model-set.ts'
import { openVisionPool } from '../../../src/vision/workers/vision-pool.ts'
import type { AnalyzeImageOptions } from '../../../src/vision/vision-client.ts'
import type { VisionPoolOptions, VisionPool } from '../../../src/vision/workers/vision-pool.ts'

/**
 * Opens a pool of `faulty-worker.ts` processes. By default it has one worker and no log, and limits
 * of time that a slow machine does not reach.
 */
export function openFaultyPool(options: Partial<VisionPoolOptions> = {}): VisionPool {
  return openVisionPool({
    ...visionOptions(readConfig({}), {
      modelsFolder: 'any',
      modelSet: builtinSet,
      clock: () => 0,
      log: createLog('silent'),
    }),
    workers: 1,
    queueWaitMsMax: 60_000,
    jobMsMax: 60_000,
    startMsMax: 60_000,
    limits: { bytesMax: 1, pixelsMax: 1, sideMinPx: 1 },
    entryModule: new URL('./faulty-worker.ts', import.meta.url),
    ...options,
  })
}

/** Returns a log and the lines that it has recorded: "level message fields". */
export function createRecordingLog() {
  const lines: string[] = []
  const record = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${inspect(fields)}`)
  const log = { debug: record('debug'), warn: record('warn'), error: record('error') }
  return { lines, log: log as VisionPoolOptions['log'] }
}

/** Analyzes an image whose text contains the instruction for the worker. */
export function analyze(
  pool: VisionPool,
  bytes: string,
  options: Partial<AnalyzeImageOptions> = {},
) {
  return pool.analyzeImage(
    { bytes, contentType: 'image/jpeg' },
    { minFaceConfidence: 0.5, minFaceSizePx: 1, maxFaces: 1, crops: false },
    {
      accountId: 'account',
      projectId: 'project',
      keyId: 'key',
      path: 'params.images[0]',
      ...options,
    },
  )
}

/** Whether the error is a 503 with the seconds to wait, which depend on the time of earlier jobs. */
export const isOverloaded = (error: unknown) =>
  error instanceof HttpError &&
  error.status === 503 &&
  /^[1-9]\d*$/u.test(error.headers['retry-after'] ?? '')

export async function waitUntil(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 60_000
  while (!condition()) {
    assert.ok(Date.now() < deadlineMs, `timed out waiting for ${String(condition)}`)
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
