import type { WeightTensor } from '../../../src/models/convert/weights.ts'

/** Reads the float32 weights of an ONNX file by name. Field numbers are those of `onnx.proto`. */
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

function fields(message: Uint8Array, fieldNumber: number): Uint8Array[] {
  return read(message).flatMap(({ number, value }) =>
    number === fieldNumber && typeof value !== 'number' ? [value] : [],
  )
}

/** Reads a repeated integer, packed or not. */
function varints(message: Uint8Array, fieldNumber: number): number[] {
  return read(message).flatMap(({ number, value }) => {
    if (number !== fieldNumber) return []
    if (typeof value === 'number') return [value]
    const packed: number[] = []
    for (let offset = 0; offset < value.length;) {
      const [integer, next] = varint(value, offset)
      packed.push(integer)
      offset = next
    }
    return packed
  })
}

function read(message: Uint8Array): TestProtobufField[] {
  const result: TestProtobufField[] = []
  for (let offset = 0; offset < message.length;) {
    const [key, keyEnd] = varint(message, offset)
    const wireType = key % 8
    const [integer, start] =
      wireType === 5 || wireType === 1 ? [0, keyEnd] : varint(message, keyEnd)
    const length = wireType === 2 ? integer : { 0: 0, 1: 8, 5: 4 }[wireType]
    if (length === undefined) throw new Error(`a field has the wire type ${wireType}`)
    const value = wireType === 0 ? integer : message.subarray(start, start + length)
    result.push({ number: Math.floor(key / 8), value })
    offset = start + length
  }
  return result
}

function varint(bytes: Uint8Array, start: number): [value: number, next: number] {
  let value = 0
  let factor = 1
  for (let offset = start; ; offset++) {
    const byte = bytes[offset] ?? 0
    value += (byte & 127) * factor
    if (byte < 128) return [value, offset + 1]
    factor *= 128
  }
}
