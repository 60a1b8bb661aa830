import type { BuiltinModel } from '../builtin/builtin-model.ts'
import { convertFaceApi } from './face-api/convert-face-api.ts'
import { encodeModel } from './onnx/encode.ts'
import type { Graph } from './onnx/graph.ts'
import type { SourceBytes } from './read-source.ts'
import { convertGraphModel } from './tfjs/convert-graph-model.ts'
import type { GraphModel } from './tfjs/topology.ts'
import type { WeightsGroup } from './weights.ts'

/** Converts a source to the bytes of an ONNX file. The result is identical on every machine. */
export function convertModel(model: BuiltinModel, bytes: SourceBytes): Uint8Array {
  return encodeModel(convertToGraph(model, bytes))
}

/** The casts are safe: the SHA-256 of the JSON was checked against the manifest. */
function convertToGraph({ id, source }: BuiltinModel, { manifest, weights }: SourceBytes): Graph {
  const parsed: unknown = JSON.parse(Buffer.from(manifest).toString())
  const { conversion } = source
  if (conversion.from === 'face-api')
    return convertFaceApi(conversion.network, {
      manifest: parsed as readonly [WeightsGroup],
      weights,
    })
  const graphModel = parsed as GraphModel
  return convertGraphModel(id, { model: graphModel, weights }, conversion.outputs)
}
