import type { HttpResponse } from '../../http/route.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { Tx } from '../../store/tx.ts'
import type { ConsoleContext, WriteRoute, WriteResult } from './route.ts'

/** The change and its row in the audit, both or neither. */
export async function executeWrite(route: WriteRoute, call: ConsoleContext): Promise<HttpResponse> {
  const prepared = await route.prepare?.(call)
  const written = await call.services.store.runExclusive(async (change) => {
    const done = await route.handle({ ...call, prepared }, change)
    await writeAuditEntry(change.tx, route.auditAction, { call, done })
    return done
  })
  await written.afterCommit?.()
  const { headers = {}, response: answer } = written
  return { status: 200, headers, body: route.response.parse(answer) ?? { ok: true } }
}

type AuditedWrite = { readonly call: ConsoleContext; readonly done: WriteResult<unknown> }

async function writeAuditEntry(tx: Tx, act: string, { call, done }: AuditedWrite): Promise<void> {
  const { target, detail = {}, actor: by = call.identity } = done
  const { userId, name: userName, accountId } = by
  const atMs = call.services.clock()
  const ip = call.request.clientIp
  await addAuditEntry(tx, {
    accountId,
    atMs,
    userId,
    userName,
    act,
    target,
    detail: JSON.stringify(detail),
    ip,
  })
}
