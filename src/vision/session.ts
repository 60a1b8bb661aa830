import assert from 'node:assert/strict'
import path from 'node:path'

import { InferenceSession, Tensor } from 'onnxruntime-node'

import type { ModelEntry } from '../models/manifest.ts'

/** Output name → its values, flat. */
export type Outputs = Readonly<Record<string, Float32Array>>

/** One loaded network. A run blocks the thread until it is done. */
export type Session = {
  readonly entry: ModelEntry
  /** `input` holds one or more tensors [channels, height, width] of the entry, one after another. */
  readonly run: (input: Float32Array) => Promise<Outputs>
  readonly close: () => Promise<void>
}

/**
 * Loads one model of a pack.
 *
 * One thread: there is one worker process per core, and a second thread per worker was measured
 * slower in the mixed pipeline. Nothing then waits for work, so nothing needs to spin.
 */
export async function openSession(folder: string, entry: ModelEntry): Promise<Session> {
  const onnx = await InferenceSession.create(path.join(folder, entry.product.file), {
    executionProviders: ['cpu'],
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  })
  const { name, channels, width, height } = inputOf(entry)
  const length = channels * width * height
  const run = async (input: Float32Array): Promise<Outputs> => {
    assert.ok(input.length > 0 && input.length % length === 0, `${entry.id}: whole tensors`)
    const tensor = new Tensor('float32', input, [input.length / length, channels, height, width])
    const outputs = await onnx.run({ [name]: tensor })
    return Object.fromEntries(Object.entries(outputs).map(([key, value]) => [key, floats(value)]))
  }
  return { entry, run, close: () => onnx.release() }
}

/** The named output of a run. */
export function output(outputs: Outputs, name: string): Float32Array {
  const values = outputs[name]
  assert.ok(values, `the model has an output ${name}`)
  return values
}

function inputOf({ input }: ModelEntry) {
  return { ...input, channels: input.colourOrder === 'grey' ? 1 : 3 }
}

function floats({ data }: Tensor): Float32Array {
  assert.ok(data instanceof Float32Array, 'every output is float32')
  return data
}
