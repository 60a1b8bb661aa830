import { quotePrice } from '../gate/gate.ts'
import type { Settlement } from '../gate/settle.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { newId } from '../lib/ids.ts'
import { validationEnvelope, type ActionContext, type Envelope } from './envelope.ts'
import type { ActionContent } from './input/read-call.ts'
import { passGate, type CallEnd, type IncomingCall } from './run-call.ts'

/**
 * Checks a call without running it, in the order of the gate: permissions, rate limit, price and
 * parameters. The call is admitted as a free call with a new id: it reserves nothing, is not stored for
 * replays, and the requestId of the caller stays unused.
 */
export function validateCall(
  { caller, received, gate }: IncomingCall,
  { action, ...content }: ActionContent,
  { services, signal, echoed }: Omit<ActionContext, 'caller'>,
): Promise<CallEnd<Settlement<Envelope>>> {
  const incoming = { caller, received: { ...received, requestId: newId() }, gate }
  const free = { ...content, action: { price: () => 0 } }
  return passGate(incoming, free, async (admitted, { params, debug }) => {
    const { caller: current } = admitted.call
    const key = await runAsAccount(current.accountId, () => gate.describeKey(current))
    const quote = quotePrice(key, { action, params, name: action.name })
    const { requestId } = echoed
    await action.check({ params, caller: current, services, signal, debug, requestId })
    await gate.finish(admitted)
    return { response: validationEnvelope(echoed, quote) }
  })
}
