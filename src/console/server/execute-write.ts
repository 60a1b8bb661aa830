import type { HttpResponse } from '../../http/route.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { Tx } from '../../store/tx.ts'
import type { ConsoleContext, WriteRoute, WriteResult } from './route.ts'

/** Runs a write route. The change and its audit entry are committed together or not at all. */
export async function executeWrite(route: WriteRoute, call: ConsoleContext): Promise<HttpResponse> {
  const prepared = await route.prepare?.(call)
  const result = await call.services.store.runExclusive(async (transaction) => {
    const written = await route.handle({ ...call, prepared }, transaction)
    await writeAuditEntry(transaction.tx, route.auditAction, { call, result: written })
    return written
  })
  await result.afterCommit?.()
  const { headers = {}, response } = result
  return { status: 200, headers, body: route.response.parse(response) ?? { ok: true } }
}

type AuditedWrite = { readonly call: ConsoleContext; readonly result: WriteResult<unknown> }

async function writeAuditEntry(
  tx: Tx,
  auditAction: string,
  { call, result }: AuditedWrite,
): Promise<void> {
  const { target, detail = {}, actor = call.identity } = result
  const { userId, name: userName, accountId } = actor
  await addAuditEntry(tx, {
    accountId,
    atMs: call.services.clock(),
    userId,
    userName,
    auditAction,
    target,
    detail: JSON.stringify(detail),
    ip: call.request.clientIp,
  })
}
