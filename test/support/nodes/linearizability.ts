/** A call of a concurrent history, by the order of the events that one observer recorded. */
export type RecordedOperation = {
  /** The position of the call, before the request was sent. */
  readonly calledAt: number
  /** The position of its response. */
  readonly returnedAt: number
}

/** The behavior of an object that processes one operation after another. */
export type SequentialModel<Operation, State> = {
  readonly initial: State
  /** Returns the next state; undefined if the operation cannot have its result in this state. */
  readonly apply: (state: State, operation: Operation) => State | undefined
}

/** A possible execution of the first operations of a history. */
type Prefix<State> = {
  /** All operations before this index have been executed. */
  readonly first: number
  /** The executed operations from there on. */
  readonly others: ReadonlySet<number>
  readonly state: State
}

/**
 * Checks whether a history is linearizable: whether each operation can be placed at one moment between
 * its call and its response, so that all results are those of the sequential model. After Wing and
 * Gong, "Testing and Verifying Concurrent Objects" (1993), with equal prefixes merged as by Lowe (2017).
 * All prefixes of one length are computed from the shorter ones, so the depth of calls is constant.
 *
 * @param model its states are compared as text.
 * @returns undefined if the history is linearizable, otherwise the operations of which none can be
 *   executed next in any possible execution.
 */
export function findAnomaly<Operation extends RecordedOperation, State>(
  model: SequentialModel<Operation, State>,
  history: readonly Operation[],
): readonly Operation[] | undefined {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt)
  let prefixes: Prefix<State>[] = [{ first: 0, others: new Set(), state: model.initial }]
  for (let length = 0; length < operations.length; length++) {
    const longer = new Map<string, Prefix<State>>()
    for (const prefix of prefixes)
      for (const index of nextOperations(operations, prefix)) {
        const next = extend(model, operations, prefix, index)
        if (next) longer.set(keyOf(next), next)
      }
    if (longer.size === 0) return stuckOperations(operations, prefixes)
    prefixes = [...longer.values()]
  }
  return undefined
}

/** Returns the operations that were called before any other remaining operation had its response. */
function nextOperations(
  operations: readonly RecordedOperation[],
  { first, others }: Prefix<unknown>,
): number[] {
  const indexes: number[] = []
  let firstResponse = Infinity
  for (let index = first; index < operations.length; index++) {
    const operation = operations[index]
    if (!operation || operation.calledAt > firstResponse) break
    if (others.has(index)) continue
    indexes.push(index)
    firstResponse = Math.min(firstResponse, operation.returnedAt)
  }
  return indexes
}

function extend<Operation, State>(
  model: SequentialModel<Operation, State>,
  operations: readonly Operation[],
  prefix: Prefix<State>,
  index: number,
): Prefix<State> | undefined {
  const operation = operations[index]
  const state = operation && model.apply(prefix.state, operation)
  if (state === undefined) return undefined
  const others = new Set(prefix.others).add(index)
  let { first } = prefix
  while (others.delete(first)) first++
  return { first, others, state }
}

function keyOf({ first, others, state }: Prefix<unknown>): string {
  return `${first} ${[...others].toSorted((a, b) => a - b).join()} ${String(state)}`
}

function stuckOperations<Operation extends RecordedOperation>(
  operations: readonly Operation[],
  prefixes: readonly Prefix<unknown>[],
): readonly Operation[] {
  const indexes = new Set(prefixes.flatMap((prefix) => nextOperations(operations, prefix)))
  return operations.filter((_, index) => indexes.has(index))
}
