import type { ActionResponse } from './read-envelope.ts'
import { FacegateError, invalidArgument } from '../facegate-error.ts'
import type { CallOptions } from '../options.ts'

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
      /** Whether its identities were removed, because a subject was deleted after that request. */
      readonly isRedacted: boolean
      /** Whether the stored result has no crops, because they were large: see `replayCrops`. */
      readonly areCropsOmitted: boolean
    }
  | { readonly ok: false; readonly error: FacegateError }

export type CallResult<M extends FailureMode, Value> = Promise<
  M extends 'try' ? Outcome<Value> : Value
>

/** Runs a call and turns its response into the result of its method, or into its failure. */
export type ResultHandler<M extends FailureMode> = <ActionValue, Value>(
  run: () => Promise<ActionResponse<ActionValue>>,
  select: (response: ActionResponse<ActionValue>) => Value,
  options: CallOptions | undefined,
) => CallResult<M, Value>

export const throwFailures: ResultHandler<'throw'> = async (run, select) => select(await run())

/** Throws only the reason of the signal of the call, when it is aborted. */
export const returnFailures: ResultHandler<'try'> = async (run, select, options) => {
  try {
    const response = await run()
    const { results: _results, ...facts } = response
    return { ok: true, value: select(response), ...facts }
  } catch (error) {
    if (error instanceof FacegateError) return { ok: false, error }
    const { signal } = options ?? {}
    if (signal?.aborted && error === signal.reason) throw error
    return { ok: false, error: invalidArgument(messageOf(error), error) }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the only value of a response. @throws FacegateError when its item failed. */
export function singleValue<Value>({ requestId, results: [item] }: ActionResponse<Value>): Value {
  if (item.ok) return item.value
  throw new FacegateError([item.value.error], { requestId, status: 200 })
}
