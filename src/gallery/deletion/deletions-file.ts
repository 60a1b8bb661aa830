import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { z } from 'zod'
import type { Store } from '../../store/database.ts'
import {
  type ChainedDeletion,
  type DeletionChainHead,
  accountsWithDeletions,
  deletionsAfter,
  findChainedDeletion,
  isNextInChain,
} from '../../store/gallery/deletion-chain.ts'

/**
 * Reads an exported file of deletion records, one line of JSON per record. Each record is checked
 * against the hash of the previous record of its account. An incomplete last line, left by an
 * interrupted export, is ignored if it is the beginning of a record.
 *
 * @throws Error that names the line that is not a valid record or does not continue its chain.
 */
export async function readDeletionsFile(
  file: string,
  onRecord: (row: ChainedDeletion) => Promise<void> | void = () => {},
) {
  const ends = new Map<string, ChainedDeletion>()
  let records = 0
  let bytes = 0
  await using handle = await open(file, 'r')
  for await (const line of completeLines(handle, file)) {
    records++
    const row = parseLine(line, `line ${records} of ${file}`)
    if (!isNextInChain(ends.get(row.accountId), row))
      throw new Error(`line ${records} of ${file} does not follow the record before it`)
    ends.set(row.accountId, row)
    bytes += line.length + 1
    await onRecord(row)
  }
  const { size } = await handle.stat()
  return {
    records,
    /** Length up to the end of the last complete line. */
    bytes,
    /** Length of the incomplete last line, if there is one. */
    incompleteBytes: size - bytes,
    /** Account → its last record. */
    ends,
  }
}

/** Each line begins with these characters, by which an incomplete line is distinguished from other files. */
const lineStart = '{"deletionId":"'
const lineBytesMax = 1024 * 1024

function formatDeletionLine({ deletionId, ...row }: ChainedDeletion): string {
  const rowHash = Buffer.from(row.rowHash).toString('hex')
  return `${JSON.stringify({ deletionId, ...row, rowHash })}\n`
}

function requireLineStart(rest: Buffer, file: string): void {
  const start = rest.toString('latin1', 0, lineStart.length)
  if (rest.length > lineBytesMax || !lineStart.startsWith(start))
    throw new Error(
      `the end of ${file} is not the beginning of a deletion record: name the file of the records, or a new one`,
    )
}

const lineFeed = 0x0a

/** Yields complete lines without their line feeds, as bytes: their exact lengths are needed. */
async function* completeLines(handle: FileHandle, file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) {
    // A stream without an encoding yields buffers.
    rest = Buffer.concat([rest, chunk as Buffer])
    for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
      yield rest.subarray(0, end)
      rest = rest.subarray(end + 1)
    }
    requireLineStart(rest, file)
  }
}

const recordSchema = z.strictObject({
  deletionId: z.string().min(1),
  galleryId: z.string().min(1),
  accountId: z.string(),
  subjectId: z.string().min(1),
  mergedInto: z.string().min(1).nullable(),
  formerIds: z.string(),
  groups: z.string(),
  externalId: z.string().nullable(),
  embeddingCount: z.int().min(0),
  deletedAtUtc: z.string(),
  rowHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/u)
    .transform((hex) => Buffer.from(hex, 'hex')),
})

function parseLine(line: Buffer, location: string): ChainedDeletion {
  try {
    return recordSchema.parse(JSON.parse(line.toString('utf8')))
  } catch (cause) {
    throw new Error(`${location} is not a deletion record`, { cause })
  }
}

export type ExportDeletionsResult = { readonly added: number; readonly records: number }

const recordBatchSize = 1000

/**
 * Appends to a file every deletion record that it does not contain yet. The file lists the subjects
 * that must not return with an older copy of the database, so store it separately from the copies.
 *
 * Records of accounts that this database lacks, such as moved ones, stay in the file.
 *
 * @throws Error if the last record of an account in the file is missing in the database, or follows other
 * records there: the database was restored from an older copy.
 */
export async function exportDeletions(store: Pick<Store, 'read'>, file: string) {
  // Only its owner can read a new file.
  await using handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  const { records, bytes, ends } = await readDeletionsFile(file)
  await handle.truncate(bytes)
  let added = 0
  let position = bytes
  for (const accountId of await store.read(accountsWithDeletions)) {
    const end = ends.get(accountId)
    if (end) await requireSameChain(store, end, file)
    for await (const text of linesAfter(store, accountId, end)) {
      position += await append(handle, text, position)
      added += text.split('\n').length - 1
    }
  }
  await handle.sync()
  return { added, records: records + added }
}

/** A replay into a database that has newer records itself appends the records of the file to them. */
async function requireSameChain(
  store: Pick<Store, 'read'>,
  end: ChainedDeletion,
  file: string,
): Promise<void> {
  const { deletionId, rowHash } = end
  const stored = await store.read((reading) => findChainedDeletion(reading, end))
  if (!stored)
    throw new Error(
      `the database has no deletion record ${deletionId}, the last one of its account in ${file}: it was ` +
        `restored from an older copy, or it is a different one; run facegate deletions replay --from ${file} ` +
        'and export again, and if this message remains, export to a new file',
    )
  if (!Buffer.from(rowHash).equals(stored.rowHash))
    throw new Error(
      `deletion record ${deletionId}, the last one of its account in ${file}, follows other records in the ` +
        'database, which had newer ones when the file was replayed; start a new file: it contains all of them',
    )
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
          `deletion record ${row.deletionId} does not follow the record before it in the database; ` +
            'run facegate ledger verify',
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
