import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { z } from 'zod'
import { formatCsvCell } from '../../lib/escaping/csv-cell.ts'
import type { GalleryCalibrationReport } from '../../gallery/calibration/measure/calibrate-gallery.ts'
import type { ExclusionRow } from '../../gallery/calibration/measure/excluded-pairs.ts'

const columns = [
  'subjectA',
  'subjectB',
  'externalIdA',
  'externalIdB',
  'similarity',
  'expectedPairs',
  'samePerson',
] as const

/** Formats the suspected duplicates with an empty column `samePerson`, in which the owner confirms them. */
export function formatSuspectedPairs(
  pairs: GalleryCalibrationReport['suspectedDuplicates'],
): string {
  const rows = pairs.map(({ subjectA, subjectB, similarity, expected }) => [
    subjectA.subjectId,
    subjectB.subjectId,
    subjectA.externalId ?? '',
    subjectB.externalId ?? '',
    similarity.toFixed(4),
    expected.toPrecision(2),
    '',
  ])
  const lines = [columns, ...rows].map((row) => row.map(formatCsvCell).join(','))
  return `${lines.join('\n')}\n`
}

const exclusionSchema = z.object({
  subjectA: z.string().min(1),
  subjectB: z.string().min(1),
  samePerson: z.enum(['yes', 'no', '']),
})

/**
 * Reads the pairs that the owner has confirmed: rows with `yes` in the column `samePerson`.
 *
 * @throws Error that names the file, the row and the rule.
 */
export async function readConfirmedPairs(file: string): Promise<ExclusionRow[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`cannot read ${file}`, { cause })
  })
  const name = path.basename(file)
  return parseRows(text, name).flatMap((row, index) => {
    const place = `${name}:${index + 2}`
    const result = exclusionSchema.safeParse(row)
    if (!result.success)
      throw new Error(
        `${place}: each row needs subjectA, subjectB and, in samePerson, yes, no or nothing`,
      )
    const { subjectA, subjectB, samePerson } = result.data
    return samePerson === 'yes' ? [{ place, subjectA, subjectB }] : []
  })
}

function parseRows(text: string, name: string): unknown[] {
  try {
    return parse(text, { bom: true, columns: true, trim: true, skip_empty_lines: true })
  } catch (cause) {
    throw new Error(`${name} is not a CSV file with the columns ${columns.join(', ')}`, { cause })
  }
}
