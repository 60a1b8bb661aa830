import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { requireRecognizerDecoding } from '../decoding.ts'
import type { InstalledModel } from '../model-set.ts'
import { sha256Of } from '../sha256.ts'
import { decodeFloat16 } from './float16.ts'

/**
 * Reads the cohort of an installed recognizer; undefined when it has none yet.
 *
 * @throws Error that names the file when it is missing, altered or of the wrong size.
 */
export async function readCohort({ folder, model }: InstalledModel) {
  const { cohort: cohortFile, dimensions } = requireRecognizerDecoding(model)
  if (!cohortFile) return undefined
  const { file, sha256, neighbours } = cohortFile
  const filePath = path.join(folder, file)
  const bytes = await readFile(filePath).catch((cause: unknown) => {
    throw new Error(`cannot read the cohort ${filePath}`, { cause })
  })
  if (sha256Of(bytes) !== sha256)
    throw new Error(
      `the cohort ${filePath} was altered: new templates would not match stored ones; install the pack again`,
    )
  const cohort = decodeFloat16(bytes)
  const rows = cohort.length / dimensions
  if (!Number.isInteger(rows) || rows < neighbours)
    throw new Error(
      `the cohort ${filePath} must contain at least ${neighbours} rows of ${dimensions} numbers`,
    )
  if (!cohort.every(Number.isFinite))
    throw new Error(`the cohort ${filePath} must contain finite numbers only`)
  return { cohort, neighbours }
}
