import type { FaceApiNetworkName } from '../convert/face-api/convert-face-api.ts'
import type { GraphModelOptions } from '../convert/tfjs/convert-graph-model.ts'
import type { ActivationRanges } from '../convert/onnx/quantize.ts'
import type { Measurement } from '../pack-manifest.ts'
import type networks from './networks/networks.json'

export type BuiltinModelId = keyof typeof networks

/** The purpose of a model in the pipeline; a model can have several roles. */
type ModelRole = 'detector' | 'landmarks' | 'recognizer' | 'attributes' | 'liveness'

/**
 * A model of the built-in pack as plain data: its source, its input, its outputs, and its expected
 * outputs for a fixed input.
 */
export type BuiltinModel = {
  readonly id: BuiltinModelId
  /** Must be raised when the bytes of the ONNX file change: templates store `id@version`. */
  readonly version: string
  readonly roles: readonly ModelRole[]
  readonly artifact: OnnxArtifact
  /** The version of the network that computes with 8-bit integers, if there is one. */
  readonly int8?: Int8Version
  readonly source: ConversionSource
  readonly provenance: Provenance
  /** For the model cards, as in `pack-manifest.ts`. */
  readonly measured: readonly Measurement[]
  /** Uses to avoid, for the model cards. */
  readonly notFor: string
  readonly input: ModelInput
  readonly outputs: readonly ModelOutput[]
  /** See `networks/constants.ts`. */
  readonly constants: ModelConstants
  readonly golden: Golden
}

/** The ONNX file that the service loads, in the folder of models. */
export type OnnxArtifact = { readonly file: string; readonly sha256: string }

/** The same network with rounded weights and activations; see `quantize`. */
export type Int8Version = {
  readonly artifact: OnnxArtifact
  /** From `eval/quantization/measure-activation-ranges.ts`; dlib's are narrower (eval/README.md). */
  readonly ranges: ActivationRanges
  /** The file of the means for `quantize` in the folder of the manifests, half precision. */
  readonly means?: string
  readonly golden: Golden
}

/** The files of an npm package that are converted to the ONNX file, and the conversion. */
export type ConversionSource = {
  readonly package: string
  /** The graph (TensorFlow.js) or the list of weights (face-api), JSON. */
  readonly manifest: SourceFile
  /** The values of the weights. */
  readonly weights: SourceFile
  readonly conversion: Conversion
}

/** `path` is relative to the folder of the package. */
export type SourceFile = { readonly path: string; readonly sha256: string }

type Conversion =
  | ({ readonly from: 'tfjs-graph' } & GraphModelOptions)
  | { readonly from: 'face-api'; readonly network: FaceApiNetworkName }

/** As the package that contains the weights states it, or "not stated". See also `builtinLicence`. */
type Provenance = {
  /** The origin of the network, and the file of the package that states it. */
  readonly origin: string
  readonly trainingData: string
}

/** One float32 tensor `[N, channels, height, width]` of `(pixel − mean[channel]) × scale`. */
export type ModelInput = {
  readonly name: string
  /** px */
  readonly width: number
  /** px */
  readonly height: number
  readonly colourOrder: 'RGB' | 'BGR' | 'grey'
  /** One value for each channel, in the colour order above. Pixels are 0..255. */
  readonly mean: readonly number[]
  readonly scale: number
}

/** One float32 tensor; `shape` is the shape for one image, without the batch dimension. */
type ModelOutput = {
  readonly name: string
  readonly shape: readonly number[]
  readonly meaning: string
}

export type ModelConstants = { readonly [name: string]: ModelConstant }
type ModelConstant = number | string | boolean | readonly ModelConstant[] | ModelConstants

/** The expected outputs for `goldenInput`, of `networks.json`: output name → summary. */
export type Golden = Readonly<Record<string, GoldenOutput>>

export type GoldenOutput = {
  /** Values at evenly spaced positions, including the first and the last. */
  readonly samples: readonly number[]
  /** Mean of the absolute values of the whole output. */
  readonly meanAbsolute: number
  /** The maximum allowed difference from each of these numbers. */
  readonly tolerance: number
}
