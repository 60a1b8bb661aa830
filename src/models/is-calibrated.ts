import type { ModelSet } from './pack-manifest.ts'

/** Whether the recognizer has what it needs to serve, a cohort and a table; the built-in one has. */
export function isCalibrated(recognizer: ModelSet['recognizer']): boolean {
  if (recognizer === 'builtin' || recognizer.model.decoding.kind !== 'arcface') return true
  const { cohort, calibration } = recognizer.model.decoding
  return cohort !== undefined && calibration !== undefined
}
