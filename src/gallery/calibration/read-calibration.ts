import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/**
 * Reads a calibration that `facegate evaluate verification --calibrate` wrote.
 *
 * @throws Error that names the file, and the path in it, if it is missing or invalid.
 */
export async function readCalibration(file: string): Promise<StoredCalibration> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`cannot read the calibration file ${file}`, { cause })
  })
  return parseCalibration(text, file)
}

/**
 * Parses the JSON text of a calibration.
 *
 * @param name the file or the row, for the error.
 * @throws Error that names it, and the path in it, if it is invalid.
 */
export function parseCalibration(text: string, name: string): StoredCalibration {
  const result = calibrationSchema.safeParse(parseJson(text))
  if (result.success) return result.data
  const issues = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'the whole text'}: ${message}`,
  )
  throw new Error(`${name} is not a valid calibration: ${issues.join('; ')}`)
}

const count = z.int().min(0)

const calibrationPoint = z.strictObject({
  /** False-match rate, 0..1. */
  fmr: z.number().positive().max(1),
  score: z.number(),
  /**
   * Counted on the pairs, or extrapolated with a fitted tail. `model`: only in the table of a gallery
   * with too few subjects for this rate; the step from the previous rate is that of the model's table.
   */
  source: z.enum(['counted', 'extrapolated', 'model']),
})

export type CalibrationPoint = Readonly<z.output<typeof calibrationPoint>>

const calibrationSchema = z.strictObject({
  /** "model@version" of the templates. */
  modelId: z.string(),
  /** Description of the image set. */
  set: z.string(),
  /** ISO 8601 date. */
  measuredOn: z.string(),
  people: count,
  pictures: count,
  impostorPairs: count,
  genuinePairs: count,
  /** How the scores were measured, especially those at rates that the set is too small to count. */
  method: z.string(),
  /** For each rate, the score that at most `fmr` of all impostor pairs reach; falling rates. */
  points: z
    .array(calibrationPoint.readonly())
    .min(1)
    .refine((points) => isRising(points.map(({ score }) => score)), 'scores must rise')
    .refine((points) => isRising(points.map(({ fmr }) => -fmr)), 'rates must fall')
    .readonly(),
  /** The lowest score of any pair: similarity 0. */
  lowestScore: z.number(),
  /** The lowest score of any image compared with itself: similarity 1. */
  identicalScore: z.number(),
})

/**
 * Maps the scores of one recognition model to false-match rates. Each model has its own calibration,
 * which `facegate evaluate verification --calibrate` creates.
 */
export type StoredCalibration = Readonly<z.output<typeof calibrationSchema>>

function isRising(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= (values[index - 1] ?? value))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
