import { pickleOperations, pop, take, type PickleMachine } from './pickle-operations.ts'
import { isKind, type PickledValue, type PickledReference } from './pickled-value.ts'

export type PickleContent = {
  readonly value: PickledValue
  /** All references in the value. */
  readonly references: readonly PickledReference[]
  /** The offset of the first byte after the pickle. */
  readonly end: number
}

/**
 * Reads the Python pickle (protocol 2) at `start` as data. A pickle is a program that can call any
 * function. This reader calls nothing: it supports only the operations for plain values and the names
 * that weights need, and returns a description of each call.
 *
 * @throws Error that names the unsupported operation or name, or the offset where the bytes end. No
 *   part of the file has been executed.
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
    const offset = machine.offset
    const code = take(machine, 1)[0] ?? 0
    if (code === stopCode) return { value: pop(machine), references, end: machine.offset }
    const operation = pickleOperations[code]
    if (!operation)
      throw new Error(
        `operation 0x${code.toString(16)} at byte ${offset} is not used in a state dict`,
      )
    const value = operation(machine)
    if (value === undefined) continue
    machine.stack.push(value)
    if (isKind(value, 'reference')) references.push(value)
  }
  throw new Error(`it has more than ${operationsMax} operations`)
}

/** A network with a thousand tensors needs about fifty thousand. */
const operationsMax = 2_000_000
const stopCode = 0x2e
