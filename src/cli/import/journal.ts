import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Entry } from './entries.ts'
import type { Sent } from './send.ts'

/** What an import has done so far, one JSON object a line. */
export type Journal = {
  readonly isDone: (entry: Entry) => boolean
  readonly note: (entry: Entry, sent: Sent) => Promise<void>
}

const line = z.object({ file: z.string(), externalId: z.string(), ok: z.boolean() })

/** What was refused is tried again: the next time the server may be set up otherwise. */
export async function openJournal(file: string): Promise<Journal> {
  const done = new Set<string>()
  const nameOf = (entry: Pick<Entry, 'file' | 'externalId'>): string =>
    JSON.stringify([entry.file, entry.externalId])
  for (const text of (await readIfThere(file)).split('\n')) {
    const noted = text === '' ? undefined : parseLine(text)
    if (noted?.ok) done.add(nameOf(noted))
  }
  return {
    isDone: (entry) => done.has(nameOf(entry)),
    note: (entry, sent) => {
      const { file: picture, externalId } = entry
      return appendFile(file, `${JSON.stringify({ file: picture, externalId, ...sent })}\n`)
    },
  }
}

/** The last line may be cut, where the import was. */
function parseLine(text: string): z.output<typeof line> | undefined {
  try {
    return line.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
