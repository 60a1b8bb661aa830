import { createHash } from 'node:crypto'
import type { ChainHeadRow } from './gallery-schema.ts'
import type { Database } from './schema.ts'

/** The rows of a table of which each account has one chain. */
type HashChain<Row> = {
  readonly chain: ChainHeadRow['chain']
  /** In the order of the chain. */
  readonly rows: Iterable<Row> | AsyncIterable<Row>
  /** The name of a row in messages. */
  readonly nameOf: (row: Row) => string
  readonly hashOf: (previousHash: Uint8Array | undefined, row: Row) => Buffer
}

type ChainRow = { readonly accountId: string; readonly rowHash: Uint8Array }

/** The end of an account's chain, computed from its rows. */
type ChainEnd = {
  /** The number of rows. */
  readonly seq: number
  readonly hash: Uint8Array
  /** The last row, for messages. */
  readonly row: string
}

const rowsOf: Readonly<Record<ChainHeadRow['chain'], string>> = {
  deletions: 'deletion records',
  auditLog: 'audit rows',
}

/** SHA-256 of the account's previous hash (32 zero bytes for the first row) and the fields as JSON. */
export function chainHash(previous: Uint8Array | undefined, fields: readonly unknown[]): Buffer {
  const hash = createHash('sha256').update(previous ?? Buffer.alloc(32))
  return hash.update(JSON.stringify(fields)).digest()
}

/**
 * Checks the chain of every account and its head.
 *
 * @returns one line for each row with a wrong hash, and for each chain with another end than its head.
 */
export async function findBrokenChains<Row extends ChainRow>(
  db: Database,
  { chain, rows, nameOf, hashOf }: HashChain<Row>,
): Promise<string[]> {
  const broken: string[] = []
  const ends = new Map<string, ChainEnd>()
  for await (const row of rows) {
    const end = ends.get(row.accountId)
    const name = nameOf(row)
    if (!hashOf(end?.hash, row).equals(row.rowHash)) broken.push(`${name} does not match its hash`)
    ends.set(row.accountId, { seq: (end?.seq ?? 0) + 1, hash: row.rowHash, row: name })
  }
  return [...broken, ...(await findWrongHeads(db, chain, ends))]
}

/** The hashes of the rows cannot show that the last rows are missing, or all of them. */
async function findWrongHeads(
  db: Database,
  chain: ChainHeadRow['chain'],
  ends: ReadonlyMap<string, ChainEnd>,
): Promise<string[]> {
  const rows = await db.selectFrom('chainHeads').selectAll().where('chain', '=', chain).execute()
  const heads = new Map(rows.map((head) => [head.accountId, head]))
  const accountIds = [...new Set([...ends.keys(), ...heads.keys()])].toSorted()
  return accountIds.flatMap((accountId) => {
    const problem = compareWithHead(ends.get(accountId), heads.get(accountId))
    return problem === undefined ? [] : [`the ${rowsOf[chain]} of account ${accountId} ${problem}`]
  })
}

function compareWithHead(end: ChainEnd | undefined, head: ChainHeadRow | undefined) {
  if (!head) return 'have no chain head'
  const { headSeq, headHash } = head
  if (!end) return `are missing, but the head of their chain is number ${headSeq}`
  if (end.seq !== headSeq)
    return `end at number ${end.seq} (${end.row}), but the head of their chain is number ${headSeq}`
  if (Buffer.compare(end.hash, headHash) !== 0)
    return `end with ${end.row}, which does not match the head of their chain`
  return undefined
}
