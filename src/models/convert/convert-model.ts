import { convertFaceApi } from './face-api/convert-face-api.ts'
import type { BuiltinModel } from '../builtin/builtin-model.ts'
import { encodeModel } from './onnx/encode.ts'
import type { Graph } from './onnx/graph.ts'
import { convertGraphModel } from './tfjs/convert-graph-model.ts'
import type { GraphModel } from './tfjs/topology.ts'
import type { WeightsGroup } from './weights.ts'

/** The two files of a model's source, whole. */
export type SourceBytes = { readonly manifest: Uint8Array; readonly weights: Uint8Array }

/** The bytes of a model's ONNX file: the same bytes from the same source, on every machine. */
export function convertModel(entry: BuiltinModel, bytes: SourceBytes): Uint8Array {
  return encodeModel(convertToGraph(entry, bytes))
}

/** What the JSON holds is known, not hoped for: its sha256 was checked against the manifest. */
function convertToGraph({ id, source }: BuiltinModel, { manifest, weights }: SourceBytes): Graph {
  const parsed: unknown = JSON.parse(Buffer.from(manifest).toString())
  const { conversion } = source
  if (conversion.from === 'face-api')
    return convertFaceApi(conversion.network, {
      manifest: parsed as readonly [WeightsGroup],
      weights,
    })
  const model = parsed as GraphModel
  return convertGraphModel(id, { model, weights }, conversion.outputs)
}
