import type { ActionResponse } from './read-envelope.ts'
import { FacegateError } from '../facegate-error.ts'

/** Whether a failed call throws an error (`throw`) or returns it (`try`). */
export type FailureMode = 'throw' | 'try'

/** The result of a call in the mode `try`. */
export type Outcome<Value> =
  | {
      readonly ok: true
      readonly value: Value
      readonly requestId: string
      /** Whether the service returned the stored result of an earlier request with the same id. */
      readonly isReplay: boolean
    }
  | { readonly ok: false; readonly error: FacegateError }

export type CallResult<M extends FailureMode, Value> = Promise<
  M extends 'try' ? Outcome<Value> : Value
>

/** Turns the response of an action into the result of its method, or its failure. */
export type ResultHandler<M extends FailureMode> = <ActionValue, Value>(
  pending: Promise<ActionResponse<ActionValue>>,
  select: (response: ActionResponse<ActionValue>) => Value,
) => CallResult<M, Value>

export const throwFailures: ResultHandler<'throw'> = async (pending, select) =>
  select(await pending)

export const returnFailures: ResultHandler<'try'> = async (pending, select) => {
  try {
    const response = await pending
    const { requestId, isReplay } = response
    return { ok: true, value: select(response), requestId, isReplay }
  } catch (error) {
    if (error instanceof FacegateError) return { ok: false, error }
    throw error
  }
}

/** Returns the only value of a response. @throws FacegateError when its item failed. */
export function singleValue<Value>({ requestId, results: [item] }: ActionResponse<Value>): Value {
  if (item.ok) return item.value
  throw new FacegateError([item.value.error], { requestId, status: 200 })
}
