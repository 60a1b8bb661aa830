import { isKind, type PickledValue, type PickledTuple } from './pickled-value.ts'

/** What has been read of a pickle so far. */
export type PickleMachine = {
  readonly bytes: Uint8Array
  readonly view: DataView
  offset: number
  readonly stack: PickledValue[]
  /** Heights of the stack. */
  readonly markHeights: number[]
  readonly memo: Map<number, PickledValue>
}

/** @returns what is to be put on the stack, if anything. */
type PickleOperation = (machine: PickleMachine) => PickledValue | undefined

/** What is known of a pickle's operations, by their codes; names as Python's `pickletools` has them. */
export const pickleOperations: Readonly<Record<number, PickleOperation>> = {
  /* PROTO */ 0x80: (machine) => {
    const protocol = take(machine, 1)[0]
    if (protocol !== 2) throw new Error(`a pickle of protocol ${protocol}, not 2`)
    return undefined
  },
  /* MARK */ 0x28: ({ markHeights: marks, stack }) => {
    marks.push(stack.length)
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
    if (length > textBytesMax) throw new Error(`a text of ${length} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(take(machine, length))
  },
  /* EMPTY_LIST */ 0x5d: () => ({ kind: 'list', items: [] }),
  /* EMPTY_DICT */ 0x7d: () => new Map(),
  /* EMPTY_TUPLE */ 0x29: () => ({ kind: 'tuple', items: [] }),
  /* TUPLE */ 0x74: (machine) => ({ kind: 'tuple', items: sinceMark(machine) }),
  /* TUPLE1 */ 0x85: (machine) => tuple(machine, 1),
  /* TUPLE2 */ 0x86: (machine) => tuple(machine, 2),
  /* TUPLE3 */ 0x87: (machine) => tuple(machine, 3),
  /* APPEND */ 0x61: (machine) => append(machine, [pop(machine)]),
  /* APPENDS */ 0x65: (machine) => append(machine, sinceMark(machine)),
  /* SETITEM */ 0x73: (machine) => setItems(machine, tuple(machine, 2).items),
  /* SETITEMS */ 0x75: (machine) => setItems(machine, sinceMark(machine)),
  /* BINPUT */ 0x71: (machine) => putMemo(machine, machine.view.getUint8(skip(machine, 1))),
  /* LONG_BINPUT */ 0x72: (machine) =>
    putMemo(machine, machine.view.getUint32(skip(machine, 4), true)),
  /* BINGET */ 0x68: (machine) => getMemo(machine, machine.view.getUint8(skip(machine, 1))),
  /* LONG_BINGET */ 0x6a: (machine) =>
    getMemo(machine, machine.view.getUint32(skip(machine, 4), true)),
  /* GLOBAL */ 0x63: (machine) => {
    const name = `${readLine(machine)}.${readLine(machine)}`
    if (!allowedGlobals.has(name))
      throw new Error(`it names ${name}, for which weights have no use`)
    return { kind: 'global', name }
  },
  /* REDUCE */ 0x52: (machine) => reduce(machine),
  /* BUILD: attributes of a dict, such as the versions of torch's modules, say nothing here. */
  0x62: (machine) => {
    pop(machine)
    if (!(machine.stack.at(-1) instanceof Map)) throw new Error('it gives attributes to no dict')
    return undefined
  },
  /* BINPERSID */ 0x51: (machine) => ({ kind: 'reference', id: pop(machine) }),
}

/** All that a state dict may name. */
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

/** @returns where the bytes began that were skipped. */
function skip(machine: PickleMachine, length: number): number {
  const from = machine.offset
  if (from + length > machine.bytes.length) throw new Error(`it ends at byte ${from}, unfinished`)
  machine.offset += length
  return from
}

/** @throws Error when the bytes end too early. */
export function take(machine: PickleMachine, length: number): Uint8Array {
  const from = skip(machine, length)
  return machine.bytes.subarray(from, from + length)
}

/** @throws Error when there is nothing since the last mark. */
export function pop({ stack, markHeights: marks }: PickleMachine): PickledValue {
  const value = stack.length > (marks.at(-1) ?? 0) ? stack.pop() : undefined
  if (value === undefined) throw new Error('it takes a value from an empty stack')
  return value
}

function sinceMark({ stack, markHeights: marks }: PickleMachine): PickledValue[] {
  const mark = marks.pop()
  if (mark === undefined) throw new Error('it ends what it never began')
  return stack.splice(mark)
}

function tuple(machine: PickleMachine, length: number): PickledTuple {
  const items = Array.from({ length }, () => pop(machine))
  return { kind: 'tuple', items: items.toReversed() }
}

function append({ stack }: PickleMachine, items: readonly PickledValue[]): undefined {
  const list = stack.at(-1)
  if (!isKind(list, 'list')) throw new Error('it appends to no list')
  for (const item of items) list.items.push(item)
}

function setItems({ stack }: PickleMachine, items: readonly PickledValue[]): undefined {
  const dict = stack.at(-1)
  if (!(dict instanceof Map) || items.length % 2 > 0) throw new Error('it sets items of no dict')
  for (let at = 0; at < items.length; at += 2) {
    const key = items[at]
    if (typeof key !== 'string' && typeof key !== 'number') throw new Error('an odd key of a dict')
    dict.set(key, items[at + 1] ?? null)
  }
}

function putMemo({ stack, memo }: PickleMachine, index: number): undefined {
  const top = stack.at(-1)
  if (top === undefined || index > memoMax) throw new Error(`it remembers nothing as ${index}`)
  memo.set(index, top)
}

function getMemo({ memo }: PickleMachine, index: number): PickledValue {
  const value = memo.get(index)
  if (value === undefined) throw new Error(`it recalls ${index}, which it never remembered`)
  return value
}

/** A line of text, as names are written. */
function readLine(machine: PickleMachine): string {
  const end = machine.bytes.indexOf(10, machine.offset)
  if (end < 0 || end - machine.offset > 256) throw new Error('a name without an end')
  const text = new TextDecoder().decode(take(machine, end - machine.offset))
  skip(machine, 1)
  return text
}

/** `OrderedDict()` is a dict; every other call stays a note. */
function reduce(machine: PickleMachine): PickledValue {
  const args = pop(machine)
  const callee = pop(machine)
  if (!isKind(args, 'tuple') || !isKind(callee, 'global')) throw new Error('it calls no name')
  if (callee.name !== 'collections.OrderedDict') return { kind: 'call', callee, args }
  if (args.items.length > 0) throw new Error('an OrderedDict with arguments')
  return new Map()
}

/** A whole number in two's complement, lowest byte first. */
function readLong(bytes: Uint8Array): number | bigint {
  const hex = Buffer.from(bytes.toReversed()).toString('hex')
  const value = hex === '' ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
