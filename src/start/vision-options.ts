import type { Config } from '../config.ts'
import type { VisionPoolOptions } from '../vision/workers/vision-pool.ts'

/** The options of the vision pool that are not settings. */
export type VisionEnvironment = Pick<
  VisionPoolOptions,
  'modelsFolder' | 'optimizedFolder' | 'modelSet' | 'clock' | 'log'
>

/** The options of the vision pool, with the limits of the configuration. */
export function visionOptions(config: Config, environment: VisionEnvironment): VisionPoolOptions {
  return {
    ...environment,
    workers: config.VISION_WORKERS,
    limits: {
      bytesMax: config.IMAGE_BYTES_MAX,
      pixelsMax: config.IMAGE_PIXELS_MAX,
      sideMinPx: config.IMAGE_SIDE_MIN_PX,
      extraTypes: config.IMAGE_TYPES_EXTRA,
    },
    queuePerWorkerMax: config.VISION_QUEUE_PER_WORKER_MAX,
    queueBytesMax: config.VISION_QUEUE_BYTES_MAX,
    queueWaitMsMax: config.VISION_QUEUE_WAIT_MS_MAX,
    jobMsMax: config.VISION_TIMEOUT_MS,
    workerJobsMax: config.VISION_WORKER_IMAGES_MAX,
  }
}
