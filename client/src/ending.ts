import type { Executed } from './envelope.ts'
import { FacegateError } from './error.ts'

/** Whether a failure is thrown, or is a value. */
export type Mode = 'throw' | 'try'

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

export type Result<M extends Mode, Value> = Promise<M extends 'try' ? Outcome<Value> : Value>

/** How the calls of a mode end: with what is picked from the answer, or with why there is none. */
export type Ending<M extends Mode> = <Answered, Value>(
  work: Promise<Executed<Answered>>,
  pick: (executed: Executed<Answered>) => Value,
) => Result<M, Value>

export const throwing: Ending<'throw'> = async (work, pick) => pick(await work)

export const trying: Ending<'try'> = async (work, pick) => {
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
export function onlyValue<Value>({ requestId, results: [item] }: Executed<Value>): Value {
  if (item.ok) return item.value
  throw new FacegateError([item.value.error], { requestId, status: 200 })
}
