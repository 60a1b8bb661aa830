import type { Measurement } from '../pack-manifest.ts'

/**
 * What a model pack is, as plain data: a folder of ONNX files and, for each of them, where it comes
 * from, what it takes, what it gives and what it answers to a fixed input.
 */
export type BuiltinPack = {
  readonly name: string
  readonly models: Readonly<Record<BuiltinModelId, BuiltinModel>>
}

export type BuiltinModelId =
  | 'blazeface'
  | 'ssd_mobilenetv1'
  | 'face_landmark_68'
  | 'facemesh'
  | 'face_recognition'
  | 'faceres'
  | 'face_expression'
  | 'emotion'
  | 'age_gender'
  | 'liveness'

/** What a model does in the pipeline; one model may do several things. */
type ModelRole = 'detector' | 'landmarks' | 'recognizer' | 'attributes' | 'liveness'

export type BuiltinModel = {
  readonly id: BuiltinModelId
  /** Raised whenever the bytes of the product change: templates remember `id@version`. */
  readonly version: string
  readonly roles: readonly ModelRole[]
  readonly artifact: OnnxArtifact
  readonly source: ConversionSource
  readonly provenance: Provenance
  /** For the model cards, as in `pack.ts`. */
  readonly measured: readonly Measurement[]
  /** What it must not be used for, for the model cards. */
  readonly notFor: string
  readonly input: ModelInput
  readonly outputs: readonly ModelOutput[]
  /** Constants that belong to the weights: anchors, crop factors, the order of labels. */
  readonly constants: ModelConstants
  readonly golden: Golden
}

/** The ONNX file that the service loads, in the folder of the pack. */
type OnnxArtifact = { readonly file: string; readonly sha256: string }

/** The files of an installed package that the product is made from, and how. */
export type ConversionSource = {
  readonly package: '@vladmandic/human' | '@vladmandic/face-api'
  /** The graph (TensorFlow.js) or the list of weights (face-api). */
  readonly manifest: SourceFile
  /** The weights themselves. */
  readonly weights: SourceFile
  readonly conversion: Conversion
}

/** `path` is relative to the package's folder. */
export type SourceFile = { readonly path: string; readonly sha256: string }

type Conversion =
  | {
      readonly from: 'tfjs-graph'
      /**
       * Name in the product → node of the graph. Without it every node that nothing reads is an
       * output under its own name.
       */
      readonly outputs?: Readonly<Record<string, string>>
    }
  | { readonly from: 'face-api'; readonly network: FaceApiNetworkName }

export type FaceApiNetworkName =
  | 'ssd_mobilenetv1'
  | 'face_landmark_68'
  | 'face_recognition'
  | 'face_expression'
  | 'age_gender'

/** In the words of the packages that ship the weights; "not stated" where they say nothing. */
type Provenance = {
  /** Where the network comes from, and which file of the package says so. */
  readonly origin: string
  readonly licence: string
  readonly trainingData: string
}

/** One float32 tensor `[N, channels, height, width]` of `(pixel − mean[channel]) × scale`. */
export type ModelInput = {
  readonly name: string
  /** px */
  readonly width: number
  /** px */
  readonly height: number
  readonly layout: 'NCHW'
  readonly colourOrder: 'RGB' | 'BGR' | 'grey'
  /** One per channel, in the colour order above; pixels are 0..255. */
  readonly mean: readonly number[]
  readonly scale: number
}

/** One float32 tensor; `shape` is that of one picture, without the batch in front. */
type ModelOutput = {
  readonly name: string
  readonly shape: readonly number[]
  readonly meaning: string
}

type ModelConstants = { readonly [name: string]: ModelConstant }
type ModelConstant = number | string | boolean | readonly ModelConstant[] | ModelConstants

/** What the outputs must be on `goldenInput`: name of the output → its summary. */
export type Golden = Readonly<Record<string, GoldenOutput>>

export type GoldenOutput = {
  /** Values at evenly spaced places, the first and the last among them. */
  readonly samples: readonly number[]
  /** Mean of the absolute values of the whole output. */
  readonly meanAbsolute: number
  /** The largest difference allowed to each of these numbers. */
  readonly tolerance: number
}
