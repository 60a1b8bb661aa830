import type { Selectable } from 'kysely'
import { chainHash, findBrokenChains } from '../hash-chain.ts'
import type { Database } from '../schema.ts'
import type { AuditLogRow } from '../console-schema.ts'
import {
  pageByTime,
  readInSteps,
  readPages,
  selectPage,
  stepRows,
  type ListOrder,
  type ListSource,
  type TimeFilter,
} from '../lists.ts'
import { listCountMax, toListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'

/** The name of the actor of changes by the command line. Their entries have no user. */
export const commandLineName = 'command line'

export type AuditLogEntry = Omit<Selectable<AuditLogRow>, 'auditId' | 'rowHash'>

/**
 * Adds a permanent entry. Triggers prevent changes and store the head of the hash chain, which would
 * reveal them.
 */
export async function addAuditEntry(tx: Tx, entry: AuditLogEntry): Promise<void> {
  await tx.lock(`auditLog:${entry.accountId}`, 'exclusive')
  const rowHash = auditEntryHash(await lastHash(tx, entry.accountId), entry)
  await tx.run(tx.build.insertInto('auditLog').values({ ...entry, rowHash }))
}

async function lastHash(tx: ReadTx, accountId: string): Promise<Uint8Array | undefined> {
  const query = tx.build.selectFrom('auditLog').select('rowHash')
  const last = query.where('accountId', '=', accountId).orderBy('auditId', 'desc').limit(1)
  return (await tx.run(last))[0]?.rowHash
}

function auditEntryHash(previousHash: Uint8Array | undefined, entry: AuditLogEntry): Buffer {
  const { accountId, atMs, userId, userName, auditAction, target, detail, ip } = entry
  const fields = [accountId, atMs, userId, userName, auditAction, target, detail, ip]
  return chainHash(previousHash, fields)
}

/** The kinds of entries that a list can be limited to. */
export const auditKinds = ['changes', 'playground', 'commandLine'] as const

export type AuditFilter = TimeFilter &
  ListOrder<Pick<Selectable<AuditLogRow>, 'atMs' | 'auditId'>> & {
    readonly accountId: string
    /** null: entries without a user. */
    readonly userId?: string | null | undefined
    readonly auditAction?: string | undefined
    /** Only entries of playground calls, only the others, or only those of the command line. */
    readonly kind?: (typeof auditKinds)[number] | undefined
  }

/** The actions of the playground. They change no setting and would hide the changes in a list. */
const playgroundActions = ['playground.call', 'playground.session']

/** Finds entries of the audit log, by default the newest first. */
export async function findAuditEntries(tx: ReadTx, filter: AuditFilter) {
  const rows = await tx.run(pageOfEntries(tx, filter).selectAll())
  return rows.map(({ rowHash: _rowHash, ...entry }) => entry)
}

/** Finds the same entries. SQLite reads the log in steps, so that other calls run in between. */
export function searchAuditEntries(source: ListSource, filter: AuditFilter) {
  return readInSteps(source, [filter], { findEnd: findStepEnd, find: findAuditEntries })
}

/** Counts the entries of a list, at most `listCountMax`. */
export async function countAuditEntries(source: ListSource, filter: Omit<AuditFilter, 'limit'>) {
  const found = await readInSteps(source, [{ ...filter, limit: listCountMax + 1 }], {
    findEnd: findStepEnd,
    find: (tx, part) => tx.run(pageOfEntries(tx, part).select('auditId')),
  })
  return toListCount(found.length)
}

/** Returns the position after a step of the index that finds the page; undefined at its end. */
async function findStepEnd(tx: ReadTx, { kind, userId, auditAction, ...filter }: AuditFilter) {
  const ofUser = userId ?? (kind === 'commandLine' ? null : undefined)
  const indexed = ofUser === undefined ? { auditAction } : { userId: ofUser }
  const step = pageOfEntries(tx, { ...filter, ...indexed, limit: 1 })
  return (await tx.run(step.select(['atMs', 'auditId']).offset(stepRows - 1)))[0]
}

function pageOfEntries(tx: ReadTx, filter: AuditFilter) {
  const { accountId, userId, auditAction } = filter
  const { withoutIndex } = dialectOf(tx.build)
  const kind = filter.kind && requireAuditKind(filter.kind)
  // The index of the step is used: entries of a user and an action are found by the user.
  const ofUser = userId !== undefined || kind === 'commandLine'
  const action = ofUser ? withoutIndex('auditAction') : sql.ref<string>('auditAction')
  const ofKind = auditAction === undefined ? action : withoutIndex('auditAction')
  let query = tx.build.selectFrom('auditLog').where('accountId', '=', accountId)
  if (userId !== undefined) query = query.where('userId', userId === null ? 'is' : '=', userId)
  if (auditAction !== undefined) query = query.where(action, '=', auditAction)
  if (kind === 'playground') query = query.where(ofKind, 'in', playgroundActions)
  if (kind === 'changes') query = query.where(ofKind, 'not in', playgroundActions)
  if (kind === 'commandLine')
    query = query
      .where(userId === undefined ? sql.ref('userId') : withoutIndex('userId'), 'is', null)
      .where('userName', '=', commandLineName)
  return selectPage(query, {
    columns: ['atMs', 'auditId'],
    ...pageByTime(filter, (entry) => entry.auditId),
  })
}

/** @throws RangeError for an unknown kind, which would not limit a list. */
function requireAuditKind(kind: (typeof auditKinds)[number]): (typeof auditKinds)[number] {
  if (auditKinds.includes(kind)) return kind
  throw new RangeError(`there is no kind ${kind} of audit entries`)
}

/** Checks the hash chain of every account, see `findBrokenChains`. */
export function findBrokenAuditEntries(db: Database): Promise<string[]> {
  return findBrokenChains(db, {
    chain: 'auditLog',
    rows: readAuditEntries(db),
    nameOf: ({ auditId }) => `audit row ${auditId}`,
    hashOf: auditEntryHash,
  })
}

const pageRows = 1000

/** Yields all entries in their order. It reads them page by page. */
function readAuditEntries(db: Database): AsyncGenerator<Selectable<AuditLogRow>> {
  const entries = db.selectFrom('auditLog').selectAll().orderBy('auditId').limit(pageRows)
  return readPages((last) => entries.where('auditId', '>', last?.auditId ?? -1).execute())
}

type ActivityFilter = {
  readonly userId: string | undefined
  readonly ip: string
  readonly sinceMs: number
}

/** Returns whether the user has an entry from this IP address since that time. */
export async function hasRecentActivity(tx: ReadTx, { userId = '', ip, sinceMs }: ActivityFilter) {
  const query = tx.build.selectFrom('auditLog').select('auditId')
  const matching = query
    .where('userId', '=', userId)
    .where('atMs', '>=', sinceMs)
    .where('ip', '=', ip)
  return (await tx.run(matching.limit(1))).length > 0
}
