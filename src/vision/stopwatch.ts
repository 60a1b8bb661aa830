/** `picture` is the analysis of the image as a whole; the names are keys of the API's `timingsMs`. */
const noTimeMs = {
  decode: 0,
  detect: 0,
  landmarks: 0,
  align: 0,
  embed: 0,
  liveness: 0,
  attributes: 0,
  picture: 0,
}

type AnalysisStage = keyof typeof noTimeMs

/** Milliseconds per stage, each without the stages nested in it; 0 for a stage that did not run. */
export type StageTimings = Readonly<Record<AnalysisStage, number>>

/** Measures the stages of one analysis. */
export type Stopwatch = ReturnType<typeof createStopwatch>

/** Stages run one at a time. Time is always counted for the innermost running stage. */
export function createStopwatch() {
  const spentMs = { ...noTimeMs }
  const running: AnalysisStage[] = []
  let sinceMs = performance.now()

  function addElapsed(): void {
    const nowMs = performance.now()
    const stage = running.at(-1)
    if (stage) spentMs[stage] += nowMs - sinceMs
    sinceMs = nowMs
  }

  /** Runs `work` and adds its time to `stage`, except for the time of nested stages. */
  async function time<T>(stage: AnalysisStage, work: () => Promise<T>): Promise<T> {
    addElapsed()
    running.push(stage)
    try {
      return await work()
    } finally {
      addElapsed()
      running.pop()
    }
  }

  return { time, elapsedMs: (): StageTimings => ({ ...spentMs }) }
}
