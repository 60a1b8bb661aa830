import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Calibration } from './similarity.ts'

/**
 * Reads a calibration that `facegate evaluate verification --calibrate` wrote.
 *
 * @throws Error that names the file, and the path in it, if it is missing or invalid.
 */
export async function readCalibration(file: string): Promise<Calibration> {
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
export function parseCalibration(text: string, name: string): Calibration {
  const result = calibrationSchema.safeParse(parseJson(text))
  if (result.success) return result.data
  const issues = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'the whole text'}: ${message}`,
  )
  throw new Error(`${name} is not a valid calibration: ${issues.join('; ')}`)
}

const count = z.int().min(0)

const calibrationSchema = z.strictObject({
  modelId: z.string(),
  set: z.string(),
  measuredOn: z.string(),
  people: count,
  pictures: count,
  impostorPairs: count,
  genuinePairs: count,
  method: z.string(),
  points: z
    .array(
      z.strictObject({
        fmr: z.number().positive().max(1),
        score: z.number(),
        source: z.enum(['counted', 'extrapolated', 'model']),
      }),
    )
    .min(1)
    .refine((points) => isRising(points.map(({ score }) => score)), 'scores must rise')
    .refine((points) => isRising(points.map(({ fmr }) => -fmr)), 'rates must fall'),
  lowestScore: z.number(),
  identicalScore: z.number(),
})

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
