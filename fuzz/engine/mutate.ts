import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { mutateJson } from './mutate-json.ts'

/** The longest input that the mutations create. */
export const inputBytesMax = 65_536

export type MutationSource = {
  readonly random: RandomSource
  readonly tokens: readonly Uint8Array[]
  /** Returns another input of the corpus. */
  readonly other: () => Uint8Array
}

type Mutation = (input: Uint8Array, source: MutationSource) => Uint8Array

/** Applies one to eight random changes. */
export function mutate(input: Uint8Array, source: MutationSource): Uint8Array {
  const { random } = source
  let output: Uint8Array = Uint8Array.from(input)
  if (random() < 0.3) output = mutateJson(output, random) ?? output
  const changes = 1 + Math.floor(random() ** 2 * 8)
  for (let change = 0; change < changes; change++) {
    const mutation = mutations[Math.floor(random() * mutations.length)] ?? flipBit
    output = mutation(output, source).subarray(0, inputBytesMax)
  }
  return output
}

function below(random: RandomSource, limit: number): number {
  return Math.min(limit - 1, Math.floor(random() * limit))
}

/** Short lengths are more likely than long ones. */
function sliceLength(random: RandomSource, limit: number): number {
  return Math.min(limit, 1 + Math.floor(random() ** 3 * Math.min(limit, 1024)))
}

function flipBit(input: Uint8Array, { random }: MutationSource): Uint8Array {
  if (input.length === 0) return input
  const index = below(random, input.length)
  input[index] = (input[index] ?? 0) ^ (1 << below(random, 8))
  return input
}

function setByte(input: Uint8Array, { random }: MutationSource): Uint8Array {
  if (input.length === 0) return input
  input[below(random, input.length)] = below(random, 256)
  return input
}

const edges = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0xffffffff]

/** Writes an integer at the edge of its range: 1, 2, 4 or 8 bytes in either byte order. */
function setInteger(input: Uint8Array, { random }: MutationSource): Uint8Array {
  const bytes = 1 << below(random, 4)
  if (input.length < bytes) return input
  const start = below(random, input.length - bytes + 1)
  const value = edges[below(random, edges.length)] ?? 0
  const isLittleEndian = random() < 0.5
  for (let index = 0; index < bytes; index++) {
    const shift = 8 * (isLittleEndian ? index : bytes - 1 - index)
    input[start + index] = shift < 32 ? (value >>> shift) & 0xff : 0
  }
  return input
}

const numbers = ['0', '-1', '1', '2', '0.5', '255', '65536', '1e9', '4294967296', '-0', '1e400']

/** Replaces a decimal number of a text. */
function setNumber(input: Uint8Array, { random }: MutationSource): Uint8Array {
  const start = input.findIndex((byte, index) => isDigit(byte) && index >= random() * input.length)
  if (start < 0) return input
  let end = start
  while (isDigit(input[end])) end++
  const number = numbers[below(random, numbers.length)] ?? '0'
  return replaced(input, [start, end], Buffer.from(number))
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function removeSlice(input: Uint8Array, { random }: MutationSource): Uint8Array {
  const start = below(random, Math.max(1, input.length))
  return replaced(input, [start, start + sliceLength(random, input.length)], new Uint8Array())
}

function truncate(input: Uint8Array, { random }: MutationSource): Uint8Array {
  return input.subarray(0, below(random, input.length + 1))
}

/** Inserts a copy of a slice; rarely many copies, for nesting and long lists. */
function repeatSlice(input: Uint8Array, { random }: MutationSource): Uint8Array {
  if (input.length === 0) return input
  const start = below(random, input.length)
  const slice = input.subarray(start, start + sliceLength(random, input.length - start))
  const copies = random() < 0.05 ? 1 + below(random, 2000) : 1 + below(random, 4)
  const inserted = Buffer.alloc(Math.min(inputBytesMax, slice.length * copies), slice)
  return replaced(input, [start, start], inserted)
}

function insertToken(input: Uint8Array, { random, tokens }: MutationSource): Uint8Array {
  const token = tokens[below(random, tokens.length)] ?? new Uint8Array(1)
  const start = below(random, input.length + 1)
  const end = random() < 0.5 ? start : start + token.length
  const copies = random() < 0.03 ? 1 + below(random, 500) : 1
  return replaced(input, [start, end], Buffer.alloc(token.length * copies, token))
}

/** Continues with a part of another input. */
function splice(input: Uint8Array, { random, other }: MutationSource): Uint8Array {
  const tail = other()
  const head = input.subarray(0, below(random, input.length + 1))
  return Buffer.concat([head, tail.subarray(below(random, tail.length + 1))])
}

function moveSlice(input: Uint8Array, { random }: MutationSource): Uint8Array {
  if (input.length < 2) return input
  const start = below(random, input.length)
  const length = sliceLength(random, input.length - start)
  input.copyWithin(below(random, input.length), start, start + length)
  return input
}

function replaced(
  input: Uint8Array,
  [start, end]: readonly [number, number],
  inserted: Uint8Array,
): Uint8Array {
  return Buffer.concat([input.subarray(0, start), inserted, input.subarray(end)])
}

const mutations: readonly Mutation[] = [
  flipBit,
  flipBit,
  setByte,
  setInteger,
  setNumber,
  removeSlice,
  truncate,
  repeatSlice,
  insertToken,
  insertToken,
  splice,
  moveSlice,
]
