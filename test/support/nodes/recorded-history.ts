import type { RecordedOperation, SequentialModel } from './linearizability.ts'

/** An operation on the subject of one person, with its result. */
export type SubjectOperation = RecordedOperation & {
  readonly kind: 'enroll' | 'delete' | 'identify'
  readonly person: string
  /**
   * enroll: the created subject, or null if the person was enrolled already; delete: the deleted
   * subject; identify: the subject that was found, or null.
   */
  readonly subjectId: string | null
  /** Whether a deletion found its subject. */
  readonly isFound?: boolean
}

/** The state of a person: the id of the enrolled subject; '' if there is none. */
export const subjectModel: SequentialModel<SubjectOperation, string> = {
  initial: '',
  apply: (state, { kind, subjectId, isFound = false }) => {
    const id = subjectId ?? ''
    if (kind === 'identify') return state === id ? state : undefined
    if (kind === 'enroll') return (state === '') === (id !== '') ? state || id : undefined
    if ((state === id) !== isFound) return undefined
    return isFound ? '' : state
  },
}

/** An operation on the budget of a project. */
export type BalanceOperation = RecordedOperation &
  (
    | { readonly kind: 'change'; readonly amountMicros: bigint }
    | { readonly kind: 'read'; readonly balanceMicros: bigint }
  )

/** The state is the balance. */
export const balanceModel = (initial: bigint): SequentialModel<BalanceOperation, bigint> => ({
  initial,
  apply: (state, operation) => {
    if (operation.kind === 'change') return state + operation.amountMicros
    return operation.balanceMicros === state ? state : undefined
  },
})

/** Records operations with the positions of their calls and responses. */
export type HistoryRecorder = {
  readonly subjects: SubjectOperation[]
  readonly balances: BalanceOperation[]
  /** Runs a call and returns its result with both positions. */
  readonly observe: <T>(
    call: () => Promise<T>,
  ) => Promise<RecordedOperation & { readonly result: T }>
}

/** One process sends all calls, so its order of events is that of the real time. */
export function createHistoryRecorder(): HistoryRecorder {
  let position = 0
  return {
    subjects: [],
    balances: [],
    observe: async (call) => {
      const calledAt = position++
      const result = await call()
      return { calledAt, returnedAt: position++, result }
    },
  }
}
