import type { AnalyzedFrames } from './analyze-frames.ts'

/** Degrees, change of yaw and of pitch against the first frame. */
const frontalChangeMax = 8

/** Returns the index of the frame with the highest quality among the frontal ones. */
export function selectReference({ frontal, others }: AnalyzedFrames): number {
  const frames = [frontal, ...others].map(({ face, facts }, index) => {
    const yaw = Math.abs(facts.yaw - frontal.facts.yaw)
    const pitch = Math.abs(facts.pitch - frontal.facts.pitch)
    return { index, quality: face.qualityScore, isFrontal: Math.max(yaw, pitch) < frontalChangeMax }
  })
  const best = frames.reduce((a, b) => (b.isFrontal && b.quality > a.quality ? b : a))
  return best.index
}
