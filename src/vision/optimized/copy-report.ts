import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'

/** The processor time of one run of a network, ms. */
export type Int8Measurement = { readonly float32Ms: number; readonly int8Ms: number }

/** A copy as it was written. */
export type CopyReport = {
  /** The SHA-256 of the copy. */
  readonly sha256: string
  readonly precision: 'float32' | 'int8'
  /** Set if there is an int8 version. */
  readonly measurement?: Int8Measurement
}

/** The path of the optimized copy of a network, and of the report about this copy. */
export function optimizedPaths(folder: string, sha256: string) {
  const filePath = path.join(folder, `${sha256}.ort`)
  return { filePath, reportPath: `${filePath}.json` }
}

/** Returns the report of the copy of a network; undefined if there is no copy. */
export async function readCopyReport(
  folder: string,
  sha256: string,
): Promise<CopyReport | undefined> {
  const text = await readFile(optimizedPaths(folder, sha256).reportPath, 'utf8').catch(() => '{}')
  const result = copyReport.safeParse(parseJson(text))
  return result.success ? result.data : undefined
}

const copyReport = z.object({
  sha256: z.string(),
  precision: z.enum(['float32', 'int8']),
  measurement: z.object({ float32Ms: z.number(), int8Ms: z.number() }).exactOptional(),
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
