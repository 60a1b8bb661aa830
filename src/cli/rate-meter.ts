/** How fast something progresses. */
export type ProgressRate = {
  readonly perSecond: number
  /** Estimated seconds until the end. */
  readonly leftSeconds: number
}

/** The rate is that of the last 30 seconds, so that a slow or fast start does not falsify it. */
const windowMs = 30_000
/** Samples are at least this far apart, so that their number is limited. */
const sampleMs = 500

/**
 * Measures the rate of a count that only rises.
 *
 * @param nowMs a monotonic clock.
 */
export function createRateMeter(nowMs: () => number = () => performance.now()) {
  let samples = [{ ms: nowMs(), done: 0 }]
  return {
    /** Returns undefined until the count has risen. */
    measure: (done: number, total: number): ProgressRate | undefined => {
      const ms = nowMs()
      const last = samples.at(-1)
      const recent = samples.filter((sample) => ms - sample.ms <= windowMs)
      const first = recent[0] ?? last
      if (!last || !first || ms === first.ms || done <= first.done) return undefined
      samples = recent.length > 0 ? recent : [last]
      if (ms - last.ms >= sampleMs) samples.push({ ms, done })
      const perSecond = (1000 * (done - first.done)) / (ms - first.ms)
      return { perSecond, leftSeconds: (total - done) / perSecond }
    },
  }
}

/** Returns a rate as text, such as `4.6 images per second, 2 min 29 s left`. */
export function formatRate({ perSecond, leftSeconds }: ProgressRate, unit: string): string {
  const rate = perSecond.toFixed(perSecond < 10 ? 1 : 0)
  return `${rate} ${unit} per second, ${formatDuration(leftSeconds)} left`
}

function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`
}
