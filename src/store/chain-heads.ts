import type { ChainHeadRow } from './gallery-schema.ts'
import type { Database } from './schema.ts'

/** The end of an account's chain, computed from its rows. */
export type ChainEnd = {
  /** The number of rows. */
  readonly seq: number
  readonly hash: Uint8Array
  /** The last row, for messages. */
  readonly row: string
}

const rowsOf: Readonly<Record<ChainHeadRow['chain'], string>> = {
  deletions: 'deletion records',
  adminActs: 'audit rows',
}

/**
 * Compares the rows of each account's chain with its stored head. The hashes of the rows cannot show
 * that the last rows are missing, or all of them.
 *
 * @param ends account → the end of its rows.
 * @returns one line for each account whose chain and head differ.
 */
export async function findWrongChainHeads(
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

function compareWithHead(
  end: ChainEnd | undefined,
  head: ChainHeadRow | undefined,
): string | undefined {
  if (!head) return 'have no chain head'
  const { headSeq, headHash } = head
  if (!end) return `are missing, but the head of their chain is number ${headSeq}`
  if (end.seq !== headSeq)
    return `end at number ${end.seq} (${end.row}), but the head of their chain is number ${headSeq}`
  if (Buffer.compare(end.hash, headHash) !== 0)
    return `end with ${end.row}, which does not match the head of their chain`
  return undefined
}
