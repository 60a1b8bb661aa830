import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { ImportEntry } from './list-entries.ts'
import type { EnrollResult } from './enroll-sender.ts'
import { parseJsonText } from './parse-json-text.ts'

/** The results of an import so far, one JSON object per line. */
export type ImportJournal = {
  readonly isDone: (entry: ImportEntry) => boolean
  readonly record: (entry: ImportEntry, result: EnrollResult) => Promise<void>
}

const lineSchema = z.object({ file: z.string(), externalId: z.string(), ok: z.boolean() })

/** Rejected images do not count as done: the configuration of the server may change. */
export async function openImportJournal(journalFile: string): Promise<ImportJournal> {
  const done = new Set<string>()
  const keyOf = ({ file, externalId }: Pick<ImportEntry, 'file' | 'externalId'>): string =>
    JSON.stringify([file, externalId])
  for (const line of (await readIfExists(journalFile)).split('\n')) {
    // An interrupted import can leave an incomplete line.
    const result = parseJsonText(lineSchema, line)
    if (result?.ok) done.add(keyOf(result))
  }
  return {
    isDone: (entry) => done.has(keyOf(entry)),
    record: ({ file, externalId }, result) =>
      appendFile(journalFile, `${JSON.stringify({ file, externalId, ...result })}\n`),
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
