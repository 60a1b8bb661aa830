import type { FileHandle } from 'node:fs/promises'
import type { Store } from '../../store/database.ts'
import {
  deletionsAfter,
  isNextInChain,
  tenantsWithDeletions,
} from '../../store/gallery/deletion-chain.ts'
import type { DeletionChainHead } from '../../store/gallery/deletion-chain.ts'
import { formatDeletionLine, openDeletionsFile, readDeletionsFile } from './deletions-file.ts'

export type ExportDeletionsResult = { readonly added: number; readonly records: number }

const recordBatchSize = 1000

/**
 * Adds to a file every deletion record that it does not have yet. What the file names is what must
 * not come back with an older copy of the database, so it belongs elsewhere than that.
 *
 * @throws Error when the database is not the one that the file was written of, or an older copy.
 */
export async function exportDeletions(
  store: Pick<Store, 'read'>,
  file: string,
): Promise<ExportDeletionsResult> {
  await using handle = await openDeletionsFile(file)
  const { records, bytes, ends } = await readDeletionsFile(file)
  await handle.truncate(bytes)
  let added = 0
  let place = bytes
  for (const tenantId of await store.read(tenantsWithDeletions)) {
    for await (const text of linesAfter(store, tenantId, ends.get(tenantId))) {
      place += await append(handle, text, place)
      added += text.split('\n').length - 1
    }
  }
  await handle.sync()
  return { added, records: records + added }
}

async function* linesAfter(
  store: Pick<Store, 'read'>,
  tenantId: string,
  end: DeletionChainHead | undefined,
): AsyncGenerator<string> {
  for (let last = end; ;) {
    const after = last?.deletionId
    const rows = await store.read((reading) =>
      deletionsAfter(reading, tenantId, after, recordBatchSize),
    )
    for (const row of rows) {
      if (!isNextInChain(last, row))
        throw new Error(
          `deletion ${row.deletionId} does not follow the file's last of its account: ` +
            'the database has been restored, or is another one; begin a new file',
        )
      last = row
    }
    if (rows.length > 0) yield rows.map(formatDeletionLine).join('')
    if (rows.length < recordBatchSize) return
  }
}

async function append(handle: FileHandle, text: string, position: number): Promise<number> {
  const bytes = Buffer.from(text)
  await handle.write(bytes, 0, bytes.length, position)
  return bytes.length
}
