import type { ActionResponse } from './read-envelope.ts'
import { FacegateError } from '../facegate-error.ts'

/** Whether a failure is thrown, or is a value. */
export type FailureMode = 'throw' | 'try'

/** How a call ended that does not throw. */
export type Outcome<Value> =
  | {
      readonly ok: true
      readonly value: Value
      readonly requestId: string
      /** Whether the service had done it before and only said it again: true of many a retry. */
      readonly isReplay: boolean
    }
  | { readonly ok: false; readonly error: FacegateError }

export type CallResult<M extends FailureMode, Value> = Promise<
  M extends 'try' ? Outcome<Value> : Value
>

/** How the calls of a mode end: with what is picked from the answer, or with why there is none. */
export type ResultHandler<M extends FailureMode> = <Answered, Value>(
  work: Promise<ActionResponse<Answered>>,
  pick: (executed: ActionResponse<Answered>) => Value,
) => CallResult<M, Value>

export const throwFailures: ResultHandler<'throw'> = async (work, pick) => pick(await work)

export const returnFailures: ResultHandler<'try'> = async (work, pick) => {
  try {
    const executed = await work
    const { requestId, isReplay } = executed
    return { ok: true, value: pick(executed), requestId, isReplay }
  } catch (error) {
    if (error instanceof FacegateError) return { ok: false, error }
    throw error
  }
}

/** The value of a call about one thing. @throws FacegateError when that one failed. */
export function singleValue<Value>({ requestId, results: [item] }: ActionResponse<Value>): Value {
  if (item.ok) return item.value
  throw new FacegateError([item.value.error], { requestId, status: 200 })
}
