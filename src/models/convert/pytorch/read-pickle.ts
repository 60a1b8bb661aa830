import { pickleOperations, pop, take, type PickleMachine } from './pickle-operations.ts'
import { isKind, type PickledValue, type PickledReference } from './pickled-value.ts'

export type PickleContent = {
  readonly value: PickledValue
  /** Every reference in it. */
  readonly references: readonly PickledReference[]
  /** Where the bytes after it begin. */
  readonly end: number
}

/**
 * Reads the pickle (Python's, protocol 2) that begins at `start`, as data. A pickle is a program that
 * may call anything; here nothing is called: of its operations only those that make up plain values
 * are known, of its names only those that weights have use for, and a call stays a note of what was to
 * be called with what.
 *
 * @throws Error that names the operation or name that a state dict has no use for, or says where the
 * bytes end too early; nothing of the file has been run.
 */
export function readPickle(bytes: Uint8Array, start = 0): PickleContent {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const machine: PickleMachine = {
    bytes,
    view,
    offset: start,
    stack: [],
    markHeights: [],
    memo: new Map(),
  }
  const references: PickledReference[] = []
  for (let count = 0; count < operationsMax; count++) {
    const at = machine.offset
    const code = take(machine, 1)[0] ?? 0
    if (code === stopCode) return { value: pop(machine), references, end: machine.offset }
    const operation = pickleOperations[code]
    if (!operation)
      throw new Error(`operation 0x${code.toString(16)} at byte ${at} is none of a state dict's`)
    const made = operation(machine)
    if (made === undefined) continue
    machine.stack.push(made)
    if (isKind(made, 'reference')) references.push(made)
  }
  throw new Error(`a pickle of more than ${operationsMax} operations`)
}

/** A network of a thousand tensors takes some fifty thousand. */
const operationsMax = 2_000_000
const stopCode = 0x2e
