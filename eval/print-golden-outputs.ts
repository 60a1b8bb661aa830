/**
 * Prints the sha256 and the golden outputs of every model of the built-in pack, in the format of
 * `src/models/builtin/networks/networks.json`: `node eval/print-golden-outputs.ts [id…]`
 *
 * Run it after the converter or a source has changed. Compare the networks with TensorFlow.js before
 * copying the values.
 */
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { builtinPack } from '../src/models/builtin/builtin-pack.ts'
import { convertModel, convertToInt8 } from '../src/models/convert/convert-model.ts'
import { goldenInput, goldenMismatch } from '../src/models/builtin/golden.ts'
import type { Golden, BuiltinModel } from '../src/models/builtin/builtin-model.ts'
import { readSource } from '../src/models/convert/read-source.ts'
import { sha256Of } from '../src/models/sha256.ts'
import { createGolden } from './quantization/golden-outputs.ts'

/**
 * The tolerance for an int8 version. Processors round sums of products in a different order, and a
 * value between two of 256 steps can be rounded to either.
 */
const int8ToleranceFraction = 0.1

const ids = process.argv.slice(2)
const entries: readonly BuiltinModel[] = Object.values(builtinPack.models)

for (const entry of entries) {
  if (ids.length > 0 && !ids.includes(entry.id)) continue
  const startMs = performance.now()
  const source = await readSource(entry)
  const artifact = convertModel(entry, source)
  const convertedMs = Math.round(performance.now() - startMs)
  const outputs = await run(entry, artifact)
  console.log(`${entry.id}: ${artifact.length} bytes, converted in ${convertedMs} ms`)
  console.log(`  sha256: '${sha256Of(artifact)}',`)
  console.log(`  golden: ${format(createGolden(outputs))},`)
  console.log(`  against the manifest: ${goldenMismatch(entry, outputs) ?? 'equal'}`)
  if (entry.int8) {
    const int8 = await convertToInt8(entry, source, entry.int8)
    console.log(`  int8 sha256: '${sha256Of(int8)}',`)
    const golden = createGolden(await run(entry, int8), int8ToleranceFraction)
    console.log(`  int8 golden: ${format(golden)},`)
  }
}

async function run(
  entry: BuiltinModel,
  artifact: Uint8Array,
): Promise<Record<string, Float32Array>> {
  const session = await InferenceSession.create(artifact, { intraOpNumThreads: 1 })
  const { mean, height, width } = entry.input
  const shape = [1, mean.length, height, width]
  const results = await session.run({
    [entry.input.name]: new Tensor('float32', goldenInput(entry), shape),
  })
  await session.release()
  return Object.fromEntries(
    entry.outputs.map(({ name }) => [name, Float32Array.from(floats(results[name]))]),
  )
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array))
    throw new Error('the network has no such float32 output')
  return tensor.data
}

/** Rounds to six significant digits, a thousand times finer than the tolerance. */
function format(golden: Golden): string {
  return JSON.stringify(golden, (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value,
  )
}
