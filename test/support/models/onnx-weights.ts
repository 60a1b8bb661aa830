import type { WeightTensor } from '../../../src/models/convert/weights.ts'

/** The float32 weights of an ONNX file by their names (fields of `onnx.proto`). */
export function readOnnxWeights(file: Uint8Array): ReadonlyMap<string, WeightTensor> {
  const weights = new Map<string, WeightTensor>()
  const [graph = new Uint8Array()] = fields(file, 7)
  for (const tensor of fields(graph, 5)) {
    const [name = new Uint8Array()] = fields(tensor, 8)
    const [raw = new Uint8Array()] = fields(tensor, 9)
    const shape = varints(tensor, 1)
    const data = new Float32Array(Uint8Array.from(raw).buffer)
    if (data.length === shape.reduce((a, b) => a * b, 1))
      weights.set(Buffer.from(name).toString(), { shape, data })
  }
  return weights
}

type TestProtobufField = { readonly number: number; readonly value: number | Uint8Array }

function fields(message: Uint8Array, wanted: number): Uint8Array[] {
  return read(message).flatMap(({ number, value }) =>
    number === wanted && typeof value !== 'number' ? [value] : [],
  )
}

/** A repeated number, packed or not. */
function varints(message: Uint8Array, wanted: number): number[] {
  return read(message).flatMap(({ number, value }) => {
    if (number !== wanted) return []
    if (typeof value === 'number') return [value]
    const packed: number[] = []
    for (let at = 0; at < value.length;) {
      const [one, next] = varint(value, at)
      packed.push(one)
      at = next
    }
    return packed
  })
}

function read(message: Uint8Array): TestProtobufField[] {
  const found: TestProtobufField[] = []
  for (let at = 0; at < message.length;) {
    const [key, start] = varint(message, at)
    const wire = key % 8
    const [first, after] = wire === 5 || wire === 1 ? [0, start] : varint(message, start)
    const length = wire === 2 ? first : { 0: 0, 1: 8, 5: 4 }[wire]
    if (length === undefined) throw new Error(`a field of the wire type ${wire}`)
    const value = wire === 0 ? first : message.subarray(after, after + length)
    found.push({ number: Math.floor(key / 8), value })
    at = after + length
  }
  return found
}

function varint(bytes: Uint8Array, from: number): [value: number, next: number] {
  let value = 0
  let factor = 1
  for (let at = from; ; at++) {
    const byte = bytes[at] ?? 0
    value += (byte & 127) * factor
    if (byte < 128) return [value, at + 1]
    factor *= 128
  }
}
