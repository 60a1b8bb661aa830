import { Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { StoreLocation } from '../../store/database.ts'
import type { GalleryHealth } from '../health/check-gallery.ts'
import type { MeasuredTable } from './calibrations.ts'
import type { RatePoint } from './measure/sorted-scores.ts'
import type { ScoreDistribution } from './score-distribution.ts'
import type { Calibration } from './similarity.ts'

/** A gallery and the account that it belongs to. */
export type CalibratedGallery = { readonly accountId: string; readonly galleryId: string }

export type MeasurementRequest = CalibratedGallery & {
  /** The table of the active model. */
  readonly shipped: Calibration
  /** Pairs of subject ids that the owner has confirmed as one person. A check does not read them. */
  readonly samePerson: readonly (readonly [string, string])[]
}

/** What a thread does: the false-match rates of a gallery, or the check of its pictures. */
export type MeasurementKind = 'calibration' | 'health'

/** `curve`: the counted rates. Both are for charts. */
export type MeasurementResult = MeasuredTable & {
  readonly curve: readonly RatePoint[]
  readonly distribution: ScoreDistribution
}

export type MeasurementProgress = {
  readonly step: 'templates' | 'pairs'
  readonly done: number
  readonly total: number
}

/** `refused`: the gallery or the request does not permit it. `failed`: the log contains the cause. */
export type MeasurementState<Result> =
  | { readonly state: 'running'; readonly progress: MeasurementProgress }
  | { readonly state: 'measured'; readonly result: Result }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'failed' }

export type GalleryMeasurement<Result> = {
  readonly measurementId: string
} & MeasurementState<Result>

/** The input of the thread. */
export type MeasurementThreadData = Pick<
  GalleryMeasurementsOptions,
  'location' | 'masterKeyFile' | 'kind'
> & { readonly request: MeasurementRequest }

/** What the thread sends: its progress, then its outcome. Templates are not among it. */
export type MeasurementMessage = MeasurementState<MeasurementResult | GalleryHealth>

/**
 * Measures galleries in a thread of this process, one after another: each needs the memory of its
 * gallery. The results are kept in memory.
 */
export type GalleryMeasurements<Result> = {
  /** Returns the id of the measurement, or undefined while the account has another one. */
  readonly start: (request: MeasurementRequest) => string | undefined
  /** Returns the last measurement of a gallery, unless it ended more than 15 minutes ago. */
  readonly find: (gallery: CalibratedGallery) => GalleryMeasurement<Result> | undefined
  /** Ends the measurement of a gallery and deletes its result. Returns whether there was one. */
  readonly discard: (gallery: CalibratedGallery) => Promise<boolean>
}

export type GalleryMeasurementsOptions = {
  readonly kind: MeasurementKind
  readonly location: StoreLocation
  readonly masterKeyFile: string
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
  /** Galleries whose last measurement is kept. */
  readonly keptMax?: number
}

/** Time in which the owner can check and apply a result. */
const measurementKeptMs = 15 * 60_000

/** A result has at most 1,000 pairs of subject ids. */
const measurementsKeptMax = 16

type KeptMeasurement<Result> = {
  readonly measurementId: string
  state: MeasurementState<Result>
  endedAtMs: number | undefined
  isDiscarded: boolean
}

/** The thread, and thus all decrypted templates, ends with its measurement. */
export function createGalleryMeasurements<Result>(
  options: GalleryMeasurementsOptions,
): GalleryMeasurements<Result> {
  const { clock, keptMax = measurementsKeptMax } = options
  /** The last started one is the last entry. */
  const kept = new Map<string, KeptMeasurement<Result>>()
  const dropOld = (): void => dropMeasurements(kept, clock() - measurementKeptMs, keptMax)
  /** Account → its measurement that waits, or runs with a worker. */
  const unfinished = new Map<string, UnfinishedMeasurement>()
  let lastTurn: Promise<void> = Promise.resolve()
  return {
    start: (request) => {
      const { accountId } = request
      if (unfinished.has(accountId)) return undefined
      const [key, measurement] = [keyOf(request), newMeasurement<Result>()]
      kept.delete(key)
      kept.set(key, measurement)
      dropOld()
      const entry: UnfinishedMeasurement = { key, worker: undefined }
      unfinished.set(accountId, entry)
      lastTurn = runInTurn(lastTurn, measurement, (onEnded) => {
        entry.worker = runThread(options, { request, measurement }, () => {
          unfinished.delete(accountId)
          onEnded()
        })
      })
      return measurement.measurementId
    },
    find: (gallery) => {
      dropOld()
      const measurement = kept.get(keyOf(gallery))
      return measurement && { measurementId: measurement.measurementId, ...measurement.state }
    },
    discard: async (gallery) => {
      const key = keyOf(gallery)
      const measurement = kept.get(key)
      if (!measurement) return false
      measurement.isDiscarded = true
      kept.delete(key)
      const { accountId } = gallery
      const entry = unfinished.get(accountId)
      if (entry?.key !== key) return true
      // The thread only reads, so it can end anywhere.
      if (entry.worker) await entry.worker.terminate()
      else unfinished.delete(accountId)
      return true
    },
  }
}

type UnfinishedMeasurement = { readonly key: string; worker: Worker | undefined }

function keyOf({ accountId, galleryId }: CalibratedGallery): string {
  return `${accountId} ${galleryId}`
}

/** Runs a measurement after the earlier ones. Resolves when it has ended. */
async function runInTurn(
  earlierTurn: Promise<void>,
  measurement: Pick<KeptMeasurement<unknown>, 'isDiscarded'>,
  run: (onEnded: () => void) => void,
): Promise<void> {
  await earlierTurn
  if (!measurement.isDiscarded) await new Promise<void>(run)
}

function newMeasurement<Result>(): KeptMeasurement<Result> {
  const progress = { step: 'templates', done: 0, total: 0 } as const
  return {
    measurementId: newId(),
    state: { state: 'running', progress },
    endedAtMs: undefined,
    isDiscarded: false,
  }
}

/** Keeps the newest `keptMax` measurements that ended after `endedByMs`, and the running one. */
function dropMeasurements(
  kept: Map<string, KeptMeasurement<unknown>>,
  endedByMs: number,
  keptMax: number,
): void {
  const ended = [...kept].filter(([, { endedAtMs }]) => endedAtMs !== undefined)
  for (const [index, [key, { endedAtMs = 0 }]] of ended.entries())
    if (endedAtMs <= endedByMs || ended.length - index > keptMax) kept.delete(key)
}

type ThreadRun<Result> = {
  readonly request: MeasurementRequest
  readonly measurement: KeptMeasurement<Result>
}

/**
 * The measurement is running until its thread has ended. Without the resources for a thread, it has
 * failed.
 */
function runThread<Result>(
  { kind, location, masterKeyFile, clock, log }: GalleryMeasurementsOptions,
  { request, measurement }: ThreadRun<Result>,
  onEnded: () => void,
): Worker | undefined {
  const workerData: MeasurementThreadData = { location, masterKeyFile, kind, request }
  let outcome: MeasurementState<Result> | undefined
  let cause: unknown = new Error('the thread ended without a result')
  const end = (): void => {
    measurement.state = outcome ?? { state: 'failed' }
    measurement.endedAtMs = clock()
    const { galleryId } = request
    if (!outcome && !measurement.isDiscarded)
      log.error({ err: cause, galleryId, kind }, 'the measurement of a gallery failed')
    onEnded()
  }
  let worker: Worker
  try {
    worker = new Worker(new URL('./measurement-thread.ts', import.meta.url), { workerData })
  } catch (error) {
    cause = error
    end()
    return undefined
  }
  // A measurement does not delay the end of the process.
  worker.unref()
  // The thread sends the result of the kind that it received.
  worker.on('message', (state: MeasurementState<Result>) => {
    if (state.state === 'running') measurement.state = state
    else outcome = state
  })
  worker.once('error', (error: unknown) => {
    cause = error
  })
  worker.once('exit', end)
  return worker
}
