import { z } from 'zod'
import { readFile } from 'node:fs/promises'
import { parseNamedJson } from '../../lib/validation/parse-named-json.ts'
import type { BuiltinModel, Int8Version } from '../builtin/builtin-model.ts'
import { convertFaceApi } from './face-api/convert-face-api.ts'
import { encodeModel } from './onnx/graph.ts'
import { quantize } from './onnx/quantize.ts'
import type { SourceBytes } from './read-source.ts'
import { convertGraphModel } from './tfjs/convert-graph-model.ts'
import { decodeFloat16 } from '../template/float16.ts'
import { graphModelSchema } from './tfjs/topology.ts'
import { weightsGroupSchema } from './weights.ts'

/** Converts a source to the bytes of an ONNX file. The result is identical on every machine. */
export function convertModel(model: BuiltinModel, bytes: SourceBytes): Uint8Array {
  return encodeModel(convertToGraph(model, bytes))
}

/** Converts a source to the bytes of the ONNX file of its int8 version. */
export async function convertToInt8(
  model: BuiltinModel,
  bytes: SourceBytes,
  { ranges, means }: Pick<Int8Version, 'ranges' | 'means'>,
): Promise<Uint8Array> {
  const graph = convertToGraph(model, bytes)
  if (means === undefined) return encodeModel(quantize(graph, { ranges }))
  const values = await readFile(new URL(means, networksFolder))
  return encodeModel(quantize(graph, { ranges, means: decodeFloat16(values) }))
}

const networksFolder = new URL('../builtin/networks/', import.meta.url)

/**
 * Converts a source to a graph.
 *
 * @throws Error when the manifest is not JSON, or not a manifest of its format.
 */
export function convertToGraph({ id, source }: BuiltinModel, { manifest, weights }: SourceBytes) {
  const { conversion } = source
  if (conversion.from === 'face-api')
    return convertFaceApi(conversion.network, {
      manifest: readManifest(faceApiManifest, manifest, id),
      weights,
    })
  const model = readManifest(graphModelSchema, manifest, id)
  return convertGraphModel(id, { model, weights }, conversion)
}

const faceApiManifest = z.tuple([weightsGroupSchema])

function readManifest<Schema extends z.ZodType>(schema: Schema, bytes: Uint8Array, id: string) {
  const text = Buffer.from(bytes).toString()
  const result = schema.safeParse(parseNamedJson(text, `the manifest of ${id}`))
  if (result.success) return result.data
  const [issue] = result.error.issues
  const place = issue?.path.map(String).join('.') ?? ''
  throw new Error(`the manifest of ${id} is not valid: ${place || 'the file'}: ${issue?.message}`)
}
