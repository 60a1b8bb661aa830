import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { ImportEntry } from './list-entries.ts'
import type { EnrollResult } from './enroll-sender.ts'

/** What an import has done so far, one JSON object a line. */
export type ImportJournal = {
  readonly isDone: (entry: ImportEntry) => boolean
  readonly record: (entry: ImportEntry, sent: EnrollResult) => Promise<void>
}

const lineSchema = z.object({ file: z.string(), externalId: z.string(), ok: z.boolean() })

/** What was refused is tried again: the next time the server may be set up otherwise. */
export async function openImportJournal(file: string): Promise<ImportJournal> {
  const done = new Set<string>()
  const nameOf = (entry: Pick<ImportEntry, 'file' | 'externalId'>): string =>
    JSON.stringify([entry.file, entry.externalId])
  for (const text of (await readIfExists(file)).split('\n')) {
    const noted = text === '' ? undefined : parseLine(text)
    if (noted?.ok) done.add(nameOf(noted))
  }
  return {
    isDone: (entry) => done.has(nameOf(entry)),
    record: (entry, sent) => {
      const { file: picture, externalId } = entry
      return appendFile(file, `${JSON.stringify({ file: picture, externalId, ...sent })}\n`)
    },
  }
}

/** The last line may be cut, where the import was. */
function parseLine(text: string): z.output<typeof lineSchema> | undefined {
  try {
    return lineSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
