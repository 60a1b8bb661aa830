import type { Answer } from '../http/exchange.ts'
import { addAct } from '../store/admin-acts.ts'
import type { Tx } from '../store/tx.ts'
import type { ConsoleCall, WriteRoute, Written } from './route.ts'

/** The change and its row in the audit, both or neither. */
export async function write(route: WriteRoute, call: ConsoleCall): Promise<Answer> {
  const prepared = await route.prepare?.(call)
  const written = await call.services.store.change(async (change) => {
    const done = await route.handle({ ...call, prepared }, change)
    await audit(change.tx, route.act, { call, done })
    return done
  })
  await written.afterwards?.()
  const { headers = {}, answer } = written
  return { status: 200, headers, body: route.answer.parse(answer) ?? { ok: true } }
}

type Audited = { readonly call: ConsoleCall; readonly done: Written<unknown> }

async function audit(tx: Tx, act: string, { call, done }: Audited): Promise<void> {
  const { target, detail = {}, by = call.visitor } = done
  const { userId, name: userName, accountId } = by
  const atMs = call.services.clock()
  const ip = call.request.clientIp
  await addAct(tx, {
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
