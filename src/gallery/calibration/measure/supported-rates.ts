import { calibratedFmrs } from '../similarity.ts'
import { CalibrationRefusal } from './calibration-refusal.ts'

/**
 * Which false-match rates a gallery can support. N subjects have about N²/2 pairs of different
 * subjects. A rate is counted if about 20 of these pairs reach its score: 200 subjects count 1e-3,
 * 633 count 1e-4, 2,000 count 1e-5 and 6,325 count 1e-6. The tail that is fitted to the highest
 * scores extends that by one power of ten, so that 200 subjects support 1e-4.
 *
 * The number of subjects is decisive, not that of templates: further templates of the same people
 * are not independent.
 */
const countedSubjectPairsMin = 20

/** No table is created with fewer: it would not support the similarities that thresholds use. */
const calibrationSubjectsMin = 200

/** Returns the number of subjects that count a rate. */
export function subjectsToCount(fmr: number): number {
  // Rounded first: the division is not exact.
  return Math.ceil(Math.round(Math.sqrt((2 * countedSubjectPairsMin) / fmr) * 1e6) / 1e6)
}

/** Returns the number of subjects that support a rate, counted or by the tail. */
export function subjectsToSupport(fmr: number): number {
  return Math.max(calibrationSubjectsMin, subjectsToCount(fmr * 10))
}

/** Returns the lowest calibrated rate that this number of subjects supports, if there is one. */
export function lowestSupportedFmr(subjects: number): number | undefined {
  return calibratedFmrs.findLast((fmr) => subjects >= subjectsToSupport(fmr))
}

/**
 * Requires enough subjects for a rate.
 *
 * @throws CalibrationRefusal with the rule and the remedy.
 */
export function requireSupport(subjects: number, fmr: number): void {
  const needed = subjectsToSupport(fmr)
  if (subjects >= needed) return
  const lowest = lowestSupportedFmr(subjects)
  const remedy =
    lowest === undefined
      ? `enroll ${needed - subjects} more, and use the table of the model until then`
      : `enroll ${needed - subjects} more, or pass --down-to ${rateText(lowest)}`
  throw new CalibrationRefusal(
    `the gallery has ${subjects} subjects that can be compared; a false-match rate of ` +
      `${rateText(fmr)} needs at least ${needed}: ${remedy}`,
  )
}

/** Formats a rate as 1e-3. */
export function rateText(fmr: number): string {
  return fmr.toExponential(0)
}
