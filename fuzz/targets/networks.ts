import { readFileSync } from 'node:fs'
import path from 'node:path'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { convertModel } from '../../src/models/convert/convert-model.ts'
import { installedPackageFolder } from '../../src/models/convert/read-source.ts'
import { graphSeeds } from './graph-seeds.ts'
import { bufferOf, isPlainRejection, type FuzzTarget } from './target.ts'

const { models } = builtinPack

/** The inputs are a JSON text, NUL, and the file of weights. */
function sourceOf(input: Uint8Array) {
  const end = input.indexOf(0)
  const split = end < 0 ? input.length : end
  return { manifest: input.subarray(0, split), weights: input.subarray(split + 1) }
}

function encodeSource(manifest: unknown, weights: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(manifest)}\0`), weights])
}

/** A graph model of TensorFlow.js. Its outputs are all nodes that no other node reads. */
export const tensorflow: FuzzTarget = {
  name: 'tensorflow',
  seeds: () => [
    ...graphSeeds().map(({ model, weights }) => encodeSource(model, weights)),
    ...[models.emotion, models.liveness].map(smallSource),
  ],
  tokens: [
    '"op":',
    '"input":',
    '"attr":',
    '"shape":',
    '"dtype":',
    '"quantization":',
    '"list":',
    '-1',
    'Relu',
    'Conv2D',
    '_FusedConv2D',
    'Reshape',
    'Pad',
    'Mean',
    'MaxPool',
    'Prelu',
    'Softmax',
    'DepthwiseConv2dNative',
    '_FusedMatMul',
    'AddV2',
    'Maximum',
    'Minimum',
    'constructor',
    'U0FNRQ==',
    'VkFMSUQ=',
    'Qmlhc0FkZA==',
    'UHJlbHU=',
    '\0\0\x80\x3f',
    '1e9',
    '0.5',
  ],
  run: (input) => {
    const conversion = { from: 'tfjs-graph' } as const
    return convert({ ...models.liveness, source: { ...models.liveness.source, conversion } }, input)
  },
  isExpected: isPlainRejection,
}

const faceApiModels: readonly BuiltinModel[] = [
  models.face_landmark_68,
  models.age_gender,
  models.face_recognition,
  models.ssd_mobilenetv1,
]

/** A first byte that selects the network, then the manifest and the weights of face-api. */
export const faceApi: FuzzTarget = {
  name: 'face-api',
  seeds: () =>
    faceApiModels.map((model, index) => Buffer.concat([Buffer.of(index), smallSource(model)])),
  tokens: ['"shape":', '"dtype":', '"quantization":', '"scale":', '"name":', 'uint8', '0', '[1,1]'],
  run: (input) => {
    const model = faceApiModels[(input[0] ?? 0) % faceApiModels.length]
    return model ? convert(model, input.subarray(1)) : ''
  },
  isExpected: isPlainRejection,
}

function convert(model: BuiltinModel, input: Uint8Array): string {
  const file = convertModel(model, sourceOf(input))
  return `${model.id} of 2^${Math.ceil(Math.log2(file.length))} bytes`
}

type ShapedWeights = {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  readonly quantization?: { readonly dtype: string }
}

/** The manifest of a built-in network with one channel where it has many, and zeros as weights. */
function smallSource({ source }: BuiltinModel): Buffer {
  const file = path.join(installedPackageFolder(source.package), source.manifest.path)
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  const groups = Array.isArray(manifest) ? manifest : manifest.weightsManifest
  const group = groups[0] as { weights: ShapedWeights[] }
  group.weights = group.weights.map((tensor) => ({
    ...tensor,
    shape: tensor.shape.map((size, axis) =>
      axis >= tensor.shape.length - 2 && size > 3 ? 1 : size,
    ),
  }))
  const bytesOf = { float32: 4, int32: 4, float16: 2, uint16: 2, uint8: 1 } as const
  const length = group.weights.reduce((sum, { shape, dtype, quantization }) => {
    const type = (quantization?.dtype ?? dtype) as keyof typeof bytesOf
    return sum + shape.reduce((product, size) => product * size, 1) * bytesOf[type]
  }, 0)
  return encodeSource(manifest, bufferOf(new Uint8Array(length)))
}
