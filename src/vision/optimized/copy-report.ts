import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'

/** The processor time of one run of a network, ms. */
const int8Measurement = z.object({ float32Ms: z.number(), int8Ms: z.number() })
export type Int8Measurement = z.infer<typeof int8Measurement>

const copyReport = z.object({
  /** The SHA-256 of the copy. */
  sha256: z.string(),
  precision: z.enum(['float32', 'int8']),
  /** Set if there is an int8 version. */
  measurement: int8Measurement.exactOptional(),
})

/** A copy as it was written. */
export type CopyReport = z.infer<typeof copyReport>

/** The path of the optimized copy of a network, and of the report about this copy. */
export function optimizedPaths(folder: string, sha256: string) {
  const filePath = path.join(folder, `${sha256}.ort`)
  return { filePath, reportPath: `${filePath}.json` }
}

/** Returns the report of the copy of a network; undefined if there is none, or none that is valid. */
export async function readCopyReport(
  folder: string,
  sha256: string,
): Promise<CopyReport | undefined> {
  try {
    const { reportPath } = optimizedPaths(folder, sha256)
    return copyReport.parse(JSON.parse(await readFile(reportPath, 'utf8')))
  } catch {
    return undefined
  }
}
