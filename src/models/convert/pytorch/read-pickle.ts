import { isUtf8 } from 'node:buffer'

/**
 * Reads the Python pickle (protocol 2) at `start` as data. A pickle is a program that can call any
 * function. This reader calls nothing: it supports only the operations for plain values and the names
 * that weights need, and returns a description of each call.
 *
 * @throws Error that names the unsupported operation or name, or the offset where the bytes end. No
 *   part of the file has been executed.
 */
export function readPickle(bytes: Uint8Array, start = 0) {
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
    if (code === stopCode)
      return {
        value: pop(machine),
        /** All references in the value. */
        references,
        /** The offset of the first byte after the pickle. */
        end: machine.offset,
      }
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

/** The state of a pickle reader. */
type PickleMachine = {
  readonly bytes: Uint8Array
  readonly view: DataView
  offset: number
  readonly stack: PickledValue[]
  /** The heights of the stack at the open marks. */
  readonly markHeights: number[]
  readonly memo: Map<number, PickledValue>
}

/** @returns the value to push onto the stack, if there is one. */
type PickleOperation = (machine: PickleMachine) => PickledValue | undefined

/** The supported operations by their codes; the names are those of Python's `pickletools`. */
const pickleOperations: Readonly<Record<number, PickleOperation>> = {
  /* PROTO */ 0x80: (machine) => {
    const protocol = take(machine, 1)[0]
    if (protocol !== 2) throw new Error(`its pickle protocol is ${protocol}, not 2`)
    return undefined
  },
  /* MARK */ 0x28: ({ markHeights, stack }) => {
    markHeights.push(stack.length)
    return undefined
  },
  /* NONE */ 0x4e: () => null,
  /* NEWTRUE */ 0x88: () => true,
  /* NEWFALSE */ 0x89: () => false,
  /* BININT */ 0x4a: (machine) => machine.view.getInt32(skip(machine, 4), true),
  /* BININT1 */ 0x4b: (machine) => machine.view.getUint8(skip(machine, 1)),
  /* BININT2 */ 0x4d: (machine) => machine.view.getUint16(skip(machine, 2), true),
  /* BINFLOAT */ 0x47: (machine) => machine.view.getFloat64(skip(machine, 8), false),
  /* LONG1 */ 0x8a: (machine) => readLong(take(machine, machine.view.getUint8(skip(machine, 1)))),
  /* BINUNICODE */ 0x58: (machine) => {
    const length = machine.view.getUint32(skip(machine, 4), true)
    if (length > textBytesMax) throw new Error(`it has a string of ${length} bytes`)
    const text = take(machine, length)
    if (!isUtf8(text))
      throw new Error(`it has a string before byte ${machine.offset} that is not UTF-8`)
    return new TextDecoder().decode(text)
  },
  /* EMPTY_LIST */ 0x5d: () => ({ kind: 'list', items: [] }),
  /* EMPTY_DICT */ 0x7d: () => new Map(),
  /* EMPTY_TUPLE */ 0x29: () => ({ kind: 'tuple', items: [] }),
  /* TUPLE */ 0x74: (machine) => ({ kind: 'tuple', items: popToMark(machine) }),
  /* TUPLE1 */ 0x85: (machine) => tuple(machine, 1),
  /* TUPLE2 */ 0x86: (machine) => tuple(machine, 2),
  /* TUPLE3 */ 0x87: (machine) => tuple(machine, 3),
  /* APPEND */ 0x61: (machine) => append(machine, [pop(machine)]),
  /* APPENDS */ 0x65: (machine) => append(machine, popToMark(machine)),
  /* SETITEM */ 0x73: (machine) => setItems(machine, tuple(machine, 2).items),
  /* SETITEMS */ 0x75: (machine) => setItems(machine, popToMark(machine)),
  /* BINPUT */ 0x71: (machine) => putMemo(machine, machine.view.getUint8(skip(machine, 1))),
  /* LONG_BINPUT */ 0x72: (machine) =>
    putMemo(machine, machine.view.getUint32(skip(machine, 4), true)),
  /* BINGET */ 0x68: (machine) => getMemo(machine, machine.view.getUint8(skip(machine, 1))),
  /* LONG_BINGET */ 0x6a: (machine) =>
    getMemo(machine, machine.view.getUint32(skip(machine, 4), true)),
  /* GLOBAL */ 0x63: (machine) => {
    const name = `${readLine(machine)}.${readLine(machine)}`
    if (!allowedGlobals.has(name)) throw new Error(`it uses ${name}, which weights do not need`)
    return { kind: 'global', name }
  },
  /* REDUCE */ 0x52: (machine) => reduce(machine),
  /* BUILD: attributes of a dict, such as the versions of PyTorch modules, are ignored. */
  0x62: (machine) => {
    pop(machine)
    if (!(machine.stack.at(-1) instanceof Map))
      throw new Error('it sets attributes of a value that is not a dict')
    return undefined
  },
  /* BINPERSID */ 0x51: (machine) => ({ kind: 'reference', id: pop(machine) }),
}

/** All names that a state dict can contain. */
const allowedGlobals: ReadonlySet<string> = new Set([
  'collections.OrderedDict',
  'torch._utils._rebuild_tensor_v2',
  'torch._utils._rebuild_parameter',
  'torch.FloatStorage',
  'torch.HalfStorage',
  'torch.LongStorage',
  'torch.float32',
  'torch.float16',
  'torch.int64',
])

const textBytesMax = 65_536
const memoMax = 1_000_000

/** Skips bytes. @returns the offset of the first of them. */
function skip(machine: PickleMachine, length: number): number {
  const start = machine.offset
  if (start + length > machine.bytes.length) throw new Error(`it ends early, at byte ${start}`)
  machine.offset += length
  return start
}

/** Returns the next bytes. @throws Error when the file ends before them. */
function take(machine: PickleMachine, length: number): Uint8Array {
  const start = skip(machine, length)
  return machine.bytes.subarray(start, start + length)
}

/** Removes and returns the top of the stack. @throws Error when nothing follows the last mark. */
function pop({ stack, markHeights }: PickleMachine): PickledValue {
  const value = stack.length > (markHeights.at(-1) ?? 0) ? stack.pop() : undefined
  if (value === undefined) throw new Error('it pops from an empty stack')
  return value
}

function popToMark({ stack, markHeights }: PickleMachine): PickledValue[] {
  const height = markHeights.pop()
  if (height === undefined) throw new Error('it has no open mark')
  return stack.splice(height)
}

function tuple(machine: PickleMachine, length: number): PickledTuple {
  const items = Array.from({ length }, () => pop(machine))
  return { kind: 'tuple', items: items.toReversed() }
}

function append({ stack }: PickleMachine, items: readonly PickledValue[]): undefined {
  const list = stack.at(-1)
  if (!isKind(list, 'list')) throw new Error('it appends to a value that is not a list')
  for (const item of items) list.items.push(item)
}

function setItems({ stack }: PickleMachine, items: readonly PickledValue[]): undefined {
  const dict = stack.at(-1)
  if (!(dict instanceof Map) || items.length % 2 > 0)
    throw new Error('it sets items of a value that is not a dict')
  for (let index = 0; index < items.length; index += 2) {
    const key = items[index]
    if (typeof key !== 'string' && typeof key !== 'number')
      throw new Error('it has a dict key that is neither a string nor a number')
    dict.set(key, items[index + 1] ?? null)
  }
}

function putMemo({ stack, memo }: PickleMachine, index: number): undefined {
  const top = stack.at(-1)
  if (top === undefined || index > memoMax) throw new Error(`it stores no value as memo ${index}`)
  memo.set(index, top)
}

function getMemo({ memo }: PickleMachine, index: number): PickledValue {
  const value = memo.get(index)
  if (value === undefined) throw new Error(`it reads memo ${index}, which it never stored`)
  return value
}

/** Reads a line of text: the encoding of names. */
function readLine(machine: PickleMachine): string {
  const end = machine.bytes.indexOf(10, machine.offset)
  if (end < 0 || end - machine.offset > 256) throw new Error('it has a name without an end')
  const text = new TextDecoder().decode(take(machine, end - machine.offset))
  skip(machine, 1)
  return text
}

/** `OrderedDict()` becomes a dict; every other call is only described. */
function reduce(machine: PickleMachine): PickledValue {
  const args = pop(machine)
  const callee = pop(machine)
  if (!isKind(args, 'tuple') || !isKind(callee, 'global'))
    throw new Error('it calls a value that is not a name')
  if (callee.name !== 'collections.OrderedDict') return { kind: 'call', callee, args }
  if (args.items.length > 0) throw new Error('it has an OrderedDict with arguments')
  return new Map()
}

/** Decodes an integer in two's complement, lowest byte first. */
function readLong(bytes: Uint8Array): number | bigint {
  const hex = Buffer.from(bytes.toReversed()).toString('hex')
  const value = hex === '' ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** A value in a pickle: plain data, or the description of a call that was not executed. */
export type PickledValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | PickledList
  | PickledTuple
  | PickledDict
  | PickledGlobal
  | PickledCall
  | PickledReference

type PickledList = { readonly kind: 'list'; readonly items: PickledValue[] }
export type PickledTuple = { readonly kind: 'tuple'; readonly items: readonly PickledValue[] }
/** Also an `OrderedDict`; its keys are strings or numbers. */
type PickledDict = ReadonlyMap<PickledValue, PickledValue>
/** A name of a module, such as `torch.FloatStorage`. */
type PickledGlobal = { readonly kind: 'global'; readonly name: string }
type PickledCall = {
  readonly kind: 'call'
  readonly callee: PickledGlobal
  readonly args: PickledTuple
}
/** A reference to data outside of the pickle: in PyTorch, a storage of numbers. */
export type PickledReference = { readonly kind: 'reference'; readonly id: PickledValue }

/** Whether a value has the given `kind`. */
export function isKind<Kind extends TaggedValue['kind']>(
  value: PickledValue | undefined,
  kind: Kind,
): value is Extract<TaggedValue, { readonly kind: Kind }> {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind
}

type TaggedValue = Exclude<Extract<PickledValue, object>, PickledDict>
