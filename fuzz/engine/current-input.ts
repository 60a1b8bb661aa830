import { openSync, readSync, writeSync } from 'node:fs'
import { inputBytesMax } from './mutate.ts'

/**
 * The input that is being parsed, in a file: if the process hangs, is killed or crashes, its parent
 * reads the input there.
 */
export type CurrentInput = {
  readonly count: number
  readonly targetIndex: number
  readonly input: Uint8Array
}

const headerBytes = 16

export type CurrentInputWriter = (targetIndex: number, input: Uint8Array) => void

export function openCurrentInput(file: string): CurrentInputWriter {
  const descriptor = openSync(file, 'w')
  const record = Buffer.alloc(headerBytes + inputBytesMax)
  let count = 0
  return (targetIndex, input) => {
    const length = Math.min(input.length, inputBytesMax)
    count = (count + 1) % 2 ** 32
    record.writeUInt32LE(count, 0)
    record.writeUInt32LE(targetIndex, 4)
    record.writeUInt32LE(length, 8)
    record.set(input.subarray(0, length), headerBytes)
    writeSync(descriptor, record, 0, headerBytes + length, 0)
  }
}

/** Reads the file in another process. @returns undefined before the first input. */
export function readCurrentInput(file: string): CurrentInput | undefined {
  const descriptor = openSync(file, 'r')
  const record = Buffer.alloc(headerBytes + inputBytesMax)
  const bytes = readSync(descriptor, record, 0, record.length, 0)
  if (bytes < headerBytes) return undefined
  const length = record.readUInt32LE(8)
  return {
    count: record.readUInt32LE(0),
    targetIndex: record.readUInt32LE(4),
    input: record.subarray(headerBytes, headerBytes + length),
  }
}
