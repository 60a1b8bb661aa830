/** Measures how long the workers take for an image. */
export type ServiceTime = {
  /** Records that a worker was occupied by one image for that long. */
  readonly record: (durationMs: number) => void
  /** Returns the time in which `workerCount` busy workers start that many images. */
  readonly estimateMs: (imageCount: number, workerCount: number) => number
}

/** The estimate before the first measurement. */
const initialMs = 200

/** The weight of one measurement in the moving average. */
const weight = 1 / 8

export function createServiceTime(): ServiceTime {
  let averageMs = initialMs
  return {
    record: (durationMs) => {
      averageMs += (durationMs - averageMs) * weight
    },
    estimateMs: (imageCount, workerCount) =>
      Math.ceil(imageCount / Math.max(1, workerCount)) * averageMs,
  }
}
