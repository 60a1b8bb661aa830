import type { SubjectsFile, ListRow } from './read-list.ts'
import type { RowResult } from './import-result.ts'
import { chunkCharsMax, toValues, type RowValues } from './to-values.ts'

/** A row that is sent, with its picture if it enrolls one. */
export type PlannedRow<Picture> = {
  readonly line: number
  readonly name: string
  readonly values: RowValues
  readonly picture?: Picture
}

/** What an import sends, and the rows that cannot be sent. */
export type ImportPlan<Picture> = {
  readonly kind: 'update' | 'enroll'
  readonly entries: readonly PlannedRow<Picture>[]
  readonly refused: readonly RowResult[]
  /** Chosen pictures that no row names. */
  readonly unusedPictures: readonly string[]
}

type NamedPicture = { readonly name: string }

/** The most pictures of one import. */
export const importPicturesMax = 5000

/** Combines the rows of a list with the chosen pictures, by their file names without folders. */
export function planImport<Picture extends NamedPicture>(
  { rows, hasFiles }: SubjectsFile,
  pictures: readonly Picture[],
): ImportPlan<Picture> {
  const byName = new Map(pictures.map((picture) => [picture.name.normalize('NFC'), picture]))
  const planned = rows.map((row) => {
    const picture = hasFiles ? byName.get(fileNameOf(row)) : undefined
    return { row, picture, entry: planRow(row, { hasFiles, picture }) }
  })
  const used = new Set(planned.map(({ picture }) => picture))
  return {
    kind: hasFiles ? 'enroll' : 'update',
    entries: planned.flatMap(({ entry }) => ('values' in entry ? [entry] : [])),
    refused: planned.flatMap(({ entry }) => ('result' in entry ? [entry] : [])),
    unusedPictures: pictures.filter((picture) => !used.has(picture)).map(({ name }) => name),
  }
}

type RowContext<Picture> = {
  readonly hasFiles: boolean
  readonly picture: Picture | undefined
}

function planRow<Picture>(
  row: ListRow,
  { hasFiles, picture }: RowContext<Picture>,
): PlannedRow<Picture> | RowResult {
  const { line, cells } = row
  const name = cells.externalId ?? cells.file ?? cells.subjectId ?? ''
  const refuse = (message: string): RowResult => ({ line, name, result: 'refused', message })
  const read = toValues(row)
  if ('problem' in read) return refuse(read.problem)
  const { values } = read
  if (cells.subjectId === undefined && cells.externalId === undefined)
    return refuse('has neither a subjectId nor an externalId')
  if (JSON.stringify(values).length > chunkCharsMax)
    return refuse(`is longer than ${chunkCharsMax} characters`)
  if (!hasFiles) return { line, name, values }
  if (cells.file === undefined) return refuse('names no file')
  if (!picture) return refuse(`the file ${cells.file} was not chosen`)
  if (cells.expiresAtUtc === 'never') return refuse('expiresAtUtc must be a time, or empty')
  return { line, name, values: forEnrollment(values), picture }
}

function fileNameOf({ cells }: ListRow): string {
  return (cells.file ?? '').trim().split(/[\\/]/u).at(-1)?.normalize('NFC') ?? ''
}

/** A row with a subjectId adds the face to that subject, whose other fields stay as they are. */
function forEnrollment(values: RowValues): RowValues {
  return values['subjectId'] === undefined ? values : { subjectId: values['subjectId'] }
}
