import { decryptResponse } from '../../../src/gate/request-fingerprint.ts'
import type { Store } from '../../../src/store/database.ts'

/** The rows of every table that the gate writes, in a form that two databases can be compared by. */
export type GateTables = Readonly<Record<string, readonly object[]>>

/**
 * Reads the tables. Latencies, encrypted bytes and ids of sequences differ between two databases;
 * they are replaced by what must be equal.
 *
 * @param responseKeys by the fingerprint of the request, in hexadecimal digits.
 */
export async function readGateTables(
  { db, isShared }: Store,
  responseKeys: ReadonlyMap<string, Buffer>,
): Promise<GateTables> {
  const decrypt = (bytes: Uint8Array | null, fingerprint: Uint8Array): string | null => {
    const key = responseKeys.get(Buffer.from(fingerprint).toString('hex'))
    if (bytes === null) return null
    if (!key) throw new Error('a stored response has an unknown fingerprint')
    return decryptResponse(key, bytes)
  }
  const transfers = await db.selectFrom('ledgerTransfers').selectAll().execute()
  const chargeOf = (transferId: number | null) => {
    const charge = transfers.find((transfer) => transfer.transferId === transferId)
    return charge ? { chain: charge.chain, seq: charge.seq } : null
  }
  const attempts = await db.selectFrom('attempts').selectAll().execute()
  const calls = await db.selectFrom('calls').selectAll().orderBy('callId').execute()
  const callHours = await db.selectFrom('callHours').selectAll().execute()
  const tables = {
    attempts: attempts.map((row) => ({
      ...row,
      response: decrypt(row.response, row.fingerprint),
      scrubbed: decrypt(row.scrubbed, row.fingerprint),
    })),
    responseSubjects: await db.selectFrom('responseSubjects').selectAll().execute(),
    buckets: await db.selectFrom('buckets').selectAll().execute(),
    ledgers: await db.selectFrom('ledgers').selectAll().execute(),
    ledgerTransfers: transfers.map(({ transferId: _transferId, ...row }) => row),
    calls: calls.map(({ callId: _id, latencyMs: _latency, transferId, ...row }, index) => ({
      index,
      ...row,
      charge: chargeOf(transferId),
    })),
    callHours: callHours.map(({ latencies: _latencies, ...row }) => row),
    scoreHours: await db.selectFrom('scoreHours').selectAll().execute(),
    // The data is the balance after the call, or after all calls of a PostgreSQL statement.
    webhookDeliveries: await db
      .selectFrom('webhookDeliveries')
      .select(['projectId', 'type', ...(isShared ? [] : (['data'] as const))])
      .execute(),
    prices: await db.selectFrom('prices').selectAll().execute(),
    keys: await db.selectFrom('keys').select(['keyId', 'lastUsedAtUtc']).execute(),
  }
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, rows.toSorted(byContent)]),
  )
}

function byContent(a: object, b: object): number {
  const [left, right] = [a, b].map(contentOf)
  return left === right ? 0 : String(left) < String(right) ? -1 : 1
}

function contentOf(row: object): string {
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
