/**
 * Prints, for every model of the built-in pack, the sha256 of its product and its golden outputs, as
 * the manifest keeps them in `src/models/builtin/`.
 *
 * Run it after the converter or a source has changed, check the networks against TensorFlow.js, and
 * only then copy the figures: `node eval/print-golden-outputs.ts [id…]`
 */
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { builtinPack } from '../src/models/builtin/builtin-pack.ts'
import { convertModel } from '../src/models/convert/convert-model.ts'
import {
  goldenInput,
  goldenInputShape,
  goldenMismatch,
  createGolden,
} from '../src/models/builtin/golden.ts'
import type { Golden, BuiltinModel } from '../src/models/builtin/builtin-model.ts'
import { readSource } from '../src/models/convert/read-source.ts'
import { sha256Of } from '../src/models/sha256.ts'

const wanted = process.argv.slice(2)
const entries: readonly BuiltinModel[] = Object.values(builtinPack.models)

for (const entry of entries) {
  if (wanted.length > 0 && !wanted.includes(entry.id)) continue
  const startMs = performance.now()
  const product = convertModel(entry, await readSource(entry))
  const convertedMs = Math.round(performance.now() - startMs)
  const outputs = await run(entry, product)
  console.log(`${entry.id}: ${product.length} bytes, converted in ${convertedMs} ms`)
  console.log(`  sha256: '${sha256Of(product)}',`)
  console.log(`  golden: ${format(createGolden(outputs))},`)
  console.log(`  against the manifest: ${goldenMismatch(entry, outputs) ?? 'as it should be'}`)
}

async function run(
  entry: BuiltinModel,
  product: Uint8Array,
): Promise<Record<string, Float32Array>> {
  const session = await InferenceSession.create(product, { intraOpNumThreads: 1 })
  const shape = goldenInputShape(entry.input)
  const results = await session.run({
    [entry.input.name]: new Tensor('float32', goldenInput(entry), shape),
  })
  await session.release()
  return Object.fromEntries(
    entry.outputs.map(({ name }) => [name, Float32Array.from(floats(results[name]))]),
  )
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new Error('an output is missing')
  return tensor.data
}

/** Six significant digits: a thousand times finer than the tolerance. */
function format(golden: Golden): string {
  return JSON.stringify(golden, (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value,
  )
}
