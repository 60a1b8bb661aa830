import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { LabelledImage } from '../face-images.ts'
import { readCsv, type LabelRow } from '../read-csv.ts'

/** The group of each image, such as an age band, a camera or a light. */
export type GroupLabels = {
  /** Sorted by name. */
  readonly names: readonly string[]
  /** The index into `names` for each image; −1 for an image without a group. */
  readonly indexes: readonly number[]
  /** Names in the file that no image of the set has. */
  readonly unmatched: readonly string[]
}

const fileName = 'groups.csv'

/** More groups give more than 1,225 comparisons between groups. */
export const groupsMax = 50

/**
 * Reads `groups.csv` of a set: a header line and the columns `person` (the name of the person's
 * folder) or `file` (relative to groups.csv), and `group`. Each person or file is in one group.
 *
 * @param source the folder, or the pairs.csv, that `readFaceSet` reads.
 * @returns undefined if the set has no such file.
 * @throws Error that names the file, the line, the rule and the remedy.
 */
export async function readGroups(
  source: string,
  images: readonly LabelledImage[],
): Promise<GroupLabels | undefined> {
  const folder = (await stat(source)).isDirectory() ? source : path.dirname(source)
  const file = path.join(folder, fileName)
  if (!existsSync(file)) return undefined
  const rows = await readCsv(file, ['group'])
  const column = keyColumnOf(file, rows)
  const groups = groupsByKey(rows, column)
  const keyOf = (image: LabelledImage): string =>
    column === 'person' ? image.person : path.relative(folder, image.file)
  return labelsOf(file, groups, images.map(keyOf))
}

function keyColumnOf(file: string, rows: readonly LabelRow[]): 'person' | 'file' {
  const columns = (['person', 'file'] as const).filter(
    (column) => rows[0]?.cells[column] !== undefined,
  )
  const [column] = columns
  if (column === undefined || columns.length > 1)
    throw new Error(
      `${file}, line 1: the header has ${column === undefined ? 'neither person nor' : 'both person and'} ` +
        'file; the first line must be "person,group" or "file,group"',
    )
  return column
}

function groupsByKey(rows: readonly LabelRow[], column: 'person' | 'file'): Map<string, string> {
  const groups = new Map<string, string>()
  for (const { location, cells } of rows) {
    const { [column]: name = '', group = '' } = cells
    if (name === '') throw new Error(`${location}: ${column} is empty; name one or remove the line`)
    if (group === '')
      throw new Error(`${location}: group is empty; write the group or remove the line`)
    const key = column === 'file' ? path.normalize(name) : name
    const former = groups.get(key)
    if (former !== undefined && former !== group)
      throw new Error(
        `${location}: ${name} is already in the group ${former}; keep one of the lines`,
      )
    groups.set(key, group)
  }
  return groups
}

function labelsOf(file: string, groups: ReadonlyMap<string, string>, imageKeys: readonly string[]) {
  const names = [...new Set(groups.values())].sort()
  if (names.length > groupsMax)
    throw new Error(
      `${file} has ${names.length} groups; at most ${groupsMax} are compared; merge some of them`,
    )
  const indexOf = new Map(names.map((name, index) => [name, index]))
  const indexes = imageKeys.map((key) => indexOf.get(groups.get(key) ?? '') ?? -1)
  const used = new Set(imageKeys)
  const unmatched = [...groups.keys()].filter((key) => !used.has(key))
  if (unmatched.length === groups.size)
    throw new Error(
      `${file}: no line names an image or a person of the set (the first is ${unmatched[0]}); ` +
        'write the names of the folders, or file names relative to groups.csv',
    )
  return { names, indexes, unmatched }
}
