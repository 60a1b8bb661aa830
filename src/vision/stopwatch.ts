import type { ImageAnalysis } from './image-analysis.ts'

export type AnalysisStage = keyof ImageAnalysis['timingsMs']

/** Says what the stages of one look took. */
export type Stopwatch = {
  /** Runs `work` on the account of `stage`, less what inner stages take on theirs. */
  readonly time: <T>(stage: AnalysisStage, work: () => Promise<T>) => Promise<T>
  /** ms up to now; 0 for a stage that did not run. */
  readonly elapsedMs: () => ImageAnalysis['timingsMs']
}

/** One stage waits for the next: at any moment the innermost that runs is the one that pays. */
export function createStopwatch(): Stopwatch {
  const spentMs: Record<AnalysisStage, number> = {
    decode: 0,
    detect: 0,
    landmarks: 0,
    align: 0,
    embed: 0,
    attributes: 0,
    picture: 0,
    liveness: 0,
  }
  const running: AnalysisStage[] = []
  let sinceMs = performance.now()

  function turn(): void {
    const nowMs = performance.now()
    const stage = running.at(-1)
    if (stage) spentMs[stage] += nowMs - sinceMs
    sinceMs = nowMs
  }

  async function time<T>(stage: AnalysisStage, work: () => Promise<T>): Promise<T> {
    turn()
    running.push(stage)
    try {
      return await work()
    } finally {
      turn()
      running.pop()
    }
  }

  return { time, elapsedMs: () => ({ ...spentMs }) }
}
