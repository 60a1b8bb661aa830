import type { Services } from '../actions/action.ts'
import type { AdmittedCall, AuthenticatedCall, ReceivedCall } from '../gate/call-states.ts'
import { type Gate, quotePrice } from '../gate/gate.ts'
import type { Settlement } from '../gate/settle.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { newId } from '../lib/ids.ts'
import { validationEnvelope, type Envelope } from './envelope.ts'
import type { ActionContent, EchoedFields } from './input/read-call.ts'
import { endOfError, type CallEnd } from './run-call.ts'

type ValidationContext = {
  readonly gate: Gate
  readonly services: Services
  readonly signal: AbortSignal
  readonly echoed: EchoedFields
}

/**
 * Checks a call without running it, in the order of the gate: permissions, rate limit, price and
 * parameters. The call is admitted as a free call with a new id: it reserves nothing, is not stored for
 * replays, and the requestId of the caller stays unused.
 */
export async function validateCall(
  caller: AuthenticatedCall['caller'],
  received: ReceivedCall,
  content: ActionContent,
  context: ValidationContext,
): Promise<CallEnd<Settlement<Envelope>>> {
  let headers: CallEnd<Settlement>['headers'] = {}
  try {
    const free = { ...content, action: { price: () => 0 } }
    const result = await context.gate.admit(caller, { ...received, requestId: newId() }, free)
    headers = result.headers
    if (result.kind === 'rejected') return endOfError(headers, result.error)
    if (result.kind === 'replay') throw new Error('a validated call has a new requestId')
    const response = await checkAdmitted(result.admitted, content, context)
    return { kind: 'settled', headers, settlement: { response } }
  } catch (error) {
    return endOfError(headers, error)
  }
}

async function checkAdmitted(
  admitted: AdmittedCall,
  { action, params, debug }: ActionContent,
  { gate, services, signal, echoed }: ValidationContext,
): Promise<Envelope> {
  const { caller } = admitted.call
  try {
    const key = await runAsAccount(caller.accountId, () => gate.describeKey(caller))
    const quote = quotePrice(key, { action, params, name: action.name })
    const { requestId } = echoed
    await action.check({ params, caller, services, signal, debug, requestId })
    await gate.finish(admitted)
    return validationEnvelope(echoed, quote)
  } catch (error) {
    throw await gate.release(admitted, error)
  }
}
