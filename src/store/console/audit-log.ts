import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Database } from '../database.ts'
import type { AdminActRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

export type AuditLogEntry = Omit<Selectable<AdminActRow>, 'auditId' | 'rowHash'>

/** Writes down what somebody did, for ever: the table refuses changes, a hash chain shows them. */
export async function addAuditEntry(tx: Tx, act: AuditLogEntry): Promise<void> {
  await tx.lock(`acts:${act.accountId}`, 'alone')
  const rowHash = auditEntryHash(await lastHash(tx, act.accountId), act)
  await tx.run(tx.build.insertInto('adminActs').values({ ...act, rowHash }))
}

async function lastHash(reading: ReadTx, accountId: string): Promise<Uint8Array> {
  const query = reading.build.selectFrom('adminActs').select('rowHash')
  const last = query.where('accountId', '=', accountId).orderBy('auditId', 'desc').limit(1)
  return (await reading.run(last))[0]?.rowHash ?? Buffer.alloc(32)
}

/** SHA-256 over the hash before it of the account (32 zero bytes at first) and the row as JSON. */
function auditEntryHash(before: Uint8Array, act: AuditLogEntry): Buffer {
  const { accountId, atMs, userId, userName, target, detail, ip } = act
  const fields = [accountId, atMs, userId, userName, act.act, target, detail, ip]
  return createHash('sha256').update(before).update(JSON.stringify(fields)).digest()
}

export type AuditFilter = {
  readonly accountId: string
  readonly userId?: string | undefined
  readonly act?: string | undefined
  /** From this moment on, and before that one. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Where the page before ended. */
  readonly after?: Pick<Selectable<AdminActRow>, 'atMs' | 'auditId'> | undefined
  readonly limit: number
}

/** What was done, the newest first. */
export function findAuditEntries(
  reading: ReadTx,
  filter: AuditFilter,
): Promise<readonly Omit<Selectable<AdminActRow>, 'rowHash'>[]> {
  const { accountId, userId, act, fromMs, toMs, after } = filter
  let query = reading.build
    .selectFrom('adminActs')
    .select(['auditId', 'accountId', 'atMs', 'userId', 'userName', 'act', 'target', 'detail', 'ip'])
    .where('accountId', '=', accountId)
  if (userId !== undefined) query = query.where('userId', '=', userId)
  if (act !== undefined) query = query.where('act', '=', act)
  if (fromMs !== undefined) query = query.where('atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('atMs', 'auditId'), '<', row.tuple(after.atMs, after.auditId)),
    )
  const ordered = query.orderBy('atMs', 'desc').orderBy('auditId', 'desc')
  return reading.run(ordered.limit(filter.limit))
}

/** Walks every account's chain of acts. @returns one line for each that does not fit. */
export async function findBrokenAuditEntries(db: Database): Promise<string[]> {
  const broken: string[] = []
  const hashes = new Map<string, Uint8Array>()
  for await (const row of readAuditEntries(db)) {
    const hash = auditEntryHash(hashes.get(row.accountId) ?? Buffer.alloc(32), row)
    if (!hash.equals(row.rowHash)) broken.push(`audit row ${row.auditId} does not fit its hash`)
    hashes.set(row.accountId, row.rowHash)
  }
  return broken
}

const pageRows = 1000

/** All acts in their order, a page at a time. */
async function* readAuditEntries(db: Database): AsyncGenerator<Selectable<AdminActRow>> {
  for (let after = -1; ;) {
    const query = db.selectFrom('adminActs').selectAll().where('auditId', '>', after)
    const page = await query.orderBy('auditId').limit(pageRows).execute()
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.auditId
  }
}

type ActivityFilter = {
  readonly userId: string | undefined
  readonly ip: string
  readonly sinceMs: number
}

/** Whether a user has done something from an address lately. */
export async function hasRecentActivity(
  reading: ReadTx,
  { userId = '', ip, sinceMs }: ActivityFilter,
): Promise<boolean> {
  const query = reading.build.selectFrom('adminActs').select('auditId')
  const own = query.where('userId', '=', userId).where('atMs', '>=', sinceMs).where('ip', '=', ip)
  return (await reading.run(own.limit(1))).length > 0
}
