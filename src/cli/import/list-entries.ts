import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { readCsv } from '../../evaluation/read-csv.ts'
import { describeError } from '../../lib/observability/describe-error.ts'

/** One image to enroll. */
export type ImportEntry = {
  readonly file: string
  readonly externalId: string
  readonly displayName?: string | undefined
  readonly groups: readonly string[]
}

/** @throws Error when the source does not exist or contains no images. */
export async function listImportEntries(source: string): Promise<ImportEntry[]> {
  const found = await stat(source).catch((cause: unknown) => {
    throw new Error(`${describeError(cause)}; pass a folder of images, or a list (.csv)`, { cause })
  })
  const isFolder = found.isDirectory()
  if (!isFolder && isImageFile(source))
    throw new Error(`${source} is an image; pass its folder, or a list (.csv)`)
  const entries = isFolder ? await entriesInFolder(source) : await entriesInList(source)
  if (entries.length === 0) throw new Error(`${source} contains no images (.jpg, .jpeg or .png)`)
  return entries
}

const isImageFile = (name: string): boolean => /\.(jpe?g|png)$/iu.test(name)

/** The externalId is the name of the person's folder, or the file name of an image without one. */
async function entriesInFolder(folder: string): Promise<ImportEntry[]> {
  return (await readdir(folder, { recursive: true }))
    .filter(isImageFile)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => {
      const [first = '', ...inside] = name.split(path.sep)
      const externalId = inside.length > 0 ? first : path.parse(first).name
      return { file: path.join(folder, name), externalId, groups: [] }
    })
}

/** CompreFace calls the externalId `subject`. */
const entrySchema = z
  .object({
    file: z.string().min(1, 'the file is empty'),
    externalId: z.string().min(1, 'the externalId is empty').optional(),
    subject: z.string().min(1, 'the subject is empty').optional(),
    displayName: z.string().optional(),
    groups: z.string().default(''),
  })
  .transform(({ externalId, subject, ...rest }, context) => {
    const id = externalId ?? subject
    if (id !== undefined) return { ...rest, externalId: id }
    context.addIssue('the column externalId (or subject) is missing')
    return z.NEVER
  })

async function entriesInList(list: string): Promise<ImportEntry[]> {
  const rows = await readCsv(list, ['file'])
  return rows.map(({ location, cells }) => {
    const { data, error } = entrySchema.safeParse(cells)
    if (!data) throw new Error(`${location}: ${error.issues[0]?.message}`)
    const { file, externalId, displayName, groups } = data
    return {
      file: path.resolve(path.dirname(list), file),
      externalId,
      displayName: displayName === '' ? undefined : displayName,
      groups: groups.split(/\s+/u).filter(Boolean),
    }
  })
}

/** Parses a JSON text by a schema. Returns undefined for other text, such as one that was cut off. */
export function parseJsonText<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
