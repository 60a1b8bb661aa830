import type { WeightTensor } from '../weights.ts'
import type { GraphBuilder } from './graph.ts'
import { noPads, samePads, windowedSize, transpose, type Pads, type Size2 } from './layout.ts'

/** A value of the graph with the shape `[N, channels, height, width]`. */
export type FeatureMap = {
  readonly name: string
  readonly size: Size2
  readonly channels: number
}

/** TensorFlow's padding modes: `SAME` adds zeros at the border, `VALID` adds nothing. */
export type Padding = 'SAME' | 'VALID'

export type Convolution = {
  /** `[height, width, in, out]`; depthwise `[height, width, channels, 1]`. */
  readonly filters: WeightTensor
  /** One value for each output channel. */
  readonly bias?: Float32Array | undefined
  readonly stride: Size2
  readonly padding: Padding | Pads
  /** Whether every channel has a separate filter. */
  readonly isDepthwise?: boolean
}

/** Adds a convolution. Reorders the filters from TensorFlow's layout to ONNX's. */
export function convolve(
  graph: GraphBuilder,
  input: FeatureMap,
  { filters, bias, stride, padding, isDepthwise = false }: Convolution,
): FeatureMap {
  const [height = 0, width = 0, inChannels = 0, lastAxis = 0] = filters.shape
  if (inChannels !== input.channels || (isDepthwise && lastAxis !== 1))
    throw new Error(`filters of ${filters.shape.join()} do not fit ${input.channels} channels`)
  const channels = isDepthwise ? inChannels : lastAxis
  const kernel = [height, width] as const
  const pads =
    typeof padding === 'string' ? padsOf(padding, input.size, { kernel, stride }) : padding
  const order = isDepthwise ? [2, 3, 0, 1] : [3, 2, 0, 1]
  const shape = [channels, isDepthwise ? 1 : inChannels, height, width]
  const weights = [graph.floats(transpose(filters.data, filters.shape, order), shape)]
  if (bias) weights.push(graph.floats(bias, [channels]))
  const name = graph.add('Conv', [input.name, ...weights], {
    kernel_shape: kernel,
    strides: stride,
    pads,
    group: isDepthwise ? channels : 1,
  })
  return { name, channels, size: windowedSize(input.size, { kernel, stride, pads }) }
}

function padsOf(
  padding: Padding,
  size: Size2,
  { kernel, stride }: { readonly kernel: Size2; readonly stride: Size2 },
): Pads {
  return padding === 'SAME' ? samePads(size, kernel, stride) : noPads
}

export type Pooling = {
  readonly kernel: Size2
  readonly stride: Size2
  readonly padding: Padding
}

/** Adds a pooling layer. An average excludes the padding, as in TensorFlow. */
export function pool(
  graph: GraphBuilder,
  kind: 'MaxPool' | 'AveragePool',
  input: FeatureMap,
  { kernel, stride, padding }: Pooling,
): FeatureMap {
  const pads = padsOf(padding, input.size, { kernel, stride })
  const name = graph.add(kind, [input.name], { kernel_shape: kernel, strides: stride, pads })
  return { ...input, name, size: windowedSize(input.size, { kernel, stride, pads }) }
}

/** Adds `min(max(x, low), high)`. */
export function clip(
  graph: GraphBuilder,
  name: string,
  { low, high }: { readonly low: number; readonly high: number },
): string {
  return graph.add('Clip', [name, graph.floats([low], []), graph.floats([high], [])])
}
