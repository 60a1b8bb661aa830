import type { FileHandle } from 'node:fs/promises'
import type { Store } from '../../store/database.ts'
import {
  deletionsAfter,
  isNextInChain,
  accountsWithDeletions,
  type DeletionChainHead,
} from '../../store/gallery/deletion-chain.ts'
import { formatDeletionLine, openDeletionsFile, readDeletionsFile } from './deletions-file.ts'

export type ExportDeletionsResult = { readonly added: number; readonly records: number }

const recordBatchSize = 1000

/**
 * Appends to a file every deletion record that it does not contain yet. The file lists the subjects
 * that must not return with an older copy of the database, so store it separately from the copies.
 *
 * @throws Error if the file was written from another database, or from a newer state of this one.
 */
export async function exportDeletions(
  store: Pick<Store, 'read'>,
  file: string,
): Promise<ExportDeletionsResult> {
  await using handle = await openDeletionsFile(file)
  const { records, bytes, ends } = await readDeletionsFile(file)
  await handle.truncate(bytes)
  let added = 0
  let position = bytes
  for (const accountId of await store.read(accountsWithDeletions)) {
    for await (const text of linesAfter(store, accountId, ends.get(accountId))) {
      position += await append(handle, text, position)
      added += text.split('\n').length - 1
    }
  }
  await handle.sync()
  return { added, records: records + added }
}

async function* linesAfter(
  store: Pick<Store, 'read'>,
  accountId: string,
  end: DeletionChainHead | undefined,
): AsyncGenerator<string> {
  for (let last = end; ;) {
    const after = last?.deletionId
    const rows = await store.read((reading) =>
      deletionsAfter(reading, accountId, after, recordBatchSize),
    )
    for (const row of rows) {
      if (!isNextInChain(last, row))
        throw new Error(
          `deletion ${row.deletionId} does not follow the last record of its account in the file: ` +
            'the database was restored, or it is a different one; start a new file',
        )
      last = row
    }
    if (rows.length > 0) yield rows.map(formatDeletionLine).join('')
    if (rows.length < recordBatchSize) return
  }
}

/** Repeats the write for the rest: on a disk that is almost full, a write stores a part only. */
async function append(handle: FileHandle, text: string, position: number): Promise<number> {
  const bytes = Buffer.from(text)
  let written = 0
  while (written < bytes.length) {
    const rest = bytes.subarray(written)
    written += (await handle.write(rest, { position: position + written })).bytesWritten
  }
  return bytes.length
}
