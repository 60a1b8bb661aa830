import type { GraphBuilder } from '../onnx/graph.ts'
import { type FeatureMap, type Padding, clip, convolve, pool } from '../onnx/layers.ts'
import { type Size2, sizeOf, transpose } from '../onnx/layout.ts'
import type { WeightTensor } from '../weights.ts'
import {
  type TopologyNode,
  booleanAttribute,
  integersAttribute,
  stringAttribute,
  stringsAttribute,
} from './topology.ts'

/** The result of the conversion of a TensorFlow.js node. */
export type GraphValue = ConstantValue | RuntimeTensor

/** A value that is known at conversion. */
type ConstantValue = WeightTensor & { readonly kind: 'constant' }

/**
 * A value that is known at run time. `shape` is TensorFlow's, including a batch of one. A tensor with
 * four dimensions, `[1, height, width, channels]`, is NCHW in the ONNX graph; all others keep their
 * layout.
 */
export type RuntimeTensor = {
  readonly kind: 'tensor'
  readonly name: string
  readonly shape: readonly number[]
}

/** Converts one node to nodes of the ONNX graph. */
export type NodeConverter = (conversion: NodeConversion) => GraphValue

export type NodeConversion = {
  readonly node: TopologyNode
  readonly inputs: readonly GraphValue[]
  readonly graph: GraphBuilder
  /** Whether the network accepts images of any size. Shapes are then those of the trained size. */
  readonly isAnySize: boolean
}

function tensorInput({ inputs }: NodeConversion, index: number): RuntimeTensor {
  const value = inputs[index]
  if (value?.kind !== 'tensor') throw new Error(`input ${index} must be a run-time value`)
  return value
}

function constantInput({ inputs }: NodeConversion, index: number): ConstantValue {
  const value = inputs[index]
  if (value?.kind !== 'constant') throw new Error(`input ${index} must be a constant`)
  return value
}

function featureMapInput(conversion: NodeConversion, index: number): FeatureMap {
  const { name, shape } = tensorInput(conversion, index)
  const [, height = 0, width = 0, channels = 0] = shape
  if (shape.length !== 4) throw new Error(`input ${index} must have four dimensions`)
  return { name, size: [height, width], channels }
}

export function tensor(name: string, shape: readonly number[]): RuntimeTensor {
  return { kind: 'tensor', name, shape }
}

function fromFeatureMap({ name, size, channels }: FeatureMap): RuntimeTensor {
  return tensor(name, [1, ...size, channels])
}

/** Returns the name of the value in TensorFlow's order; adds a Transpose if it is needed. */
export function inTensorFlowOrder(graph: GraphBuilder, { name, shape }: RuntimeTensor): string {
  return shape.length === 4 ? graph.add('Transpose', [name], { perm: [0, 2, 3, 1] }) : name
}

const activationConverters: Readonly<Record<string, NodeConverter>> = {
  Relu: unary('Relu'),
  Relu6: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    const [low] = constantInput(conversion, 1).data
    const [high] = constantInput(conversion, 2).data
    if (low !== 0 || high === undefined) throw new Error('the bounds are not those of a ReLU6')
    return tensor(clip(conversion.graph, name, { low, high }), shape)
  },
  Sigmoid: unary('Sigmoid'),
  Prelu: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    return tensor(prelu(conversion.graph, name, constantInput(conversion, 1)), shape)
  },
  Softmax: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    if (shape.length !== 2) throw new Error('Softmax needs a list of logits')
    return tensor(conversion.graph.add('Softmax', [name], { axis: -1 }), shape)
  },
}

/** Adds the fused activation of a node; its input 3 is the slopes of a Prelu. */
function fusedActivation(conversion: NodeConversion, name: string, activation: string): string {
  if (activation === 'Relu') return conversion.graph.add('Relu', [name])
  if (activation === 'Prelu') return prelu(conversion.graph, name, constantInput(conversion, 3))
  throw new Error(`the fused activation ${activation} is not supported`)
}

function unary(operator: string): NodeConverter {
  return (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    return tensor(conversion.graph.add(operator, [name]), shape)
  }
}

/**
 * Adds a PReLU with one slope `a` per channel as `a·x + (1 − a)·relu(x)`; both products are depthwise
 * 1×1 convolutions. onnxruntime uses blocks of channels in convolutions, and its PRelu operator leaves
 * that layout. In this form facemesh runs 23 % faster; the result differs by at most 3e-5 px.
 */
function prelu(graph: GraphBuilder, name: string, slopes: ConstantValue): string {
  const channels = slopes.data.length
  const scale = (input: string, factors: Float32Array): string =>
    graph.add('Conv', [input, graph.floats(factors, [channels, 1, 1, 1])], {
      kernel_shape: [1, 1],
      group: channels,
    })
  const positive = scale(
    graph.add('Relu', [name]),
    slopes.data.map((slope) => 1 - slope),
  )
  return graph.add('Add', [scale(name, slopes.data), positive])
}

/** Operators that move a window over an image. */
const convolutionConverters: Readonly<Record<string, NodeConverter>> = {
  Conv2D: (conversion) => convolution(conversion, false),
  _FusedConv2D: (conversion) => convolution(conversion, false),
  DepthwiseConv2dNative: (conversion) => convolution(conversion, true),
  MaxPool: (conversion) => {
    const { node, graph } = conversion
    const pooled = pool(graph, 'MaxPool', featureMapInput(conversion, 0), {
      kernel: spatial(node, 'ksize'),
      stride: spatial(node, 'strides'),
      padding: padding(node),
    })
    return fromFeatureMap(pooled)
  },
}

/** Inputs: image, filters, and if they are fused, the bias and the slopes of the activation. */
function convolution(conversion: NodeConversion, isDepthwise: boolean): ReturnType<NodeConverter> {
  const { node, graph } = conversion
  const [bias, activation] = stringsAttribute(node, 'fused_ops')
  if (spatial(node, 'dilations').some((step) => step !== 1))
    throw new Error('dilated convolutions are not supported')
  const convolved = convolve(graph, featureMapInput(conversion, 0), {
    filters: constantInput(conversion, 1),
    bias: bias === 'BiasAdd' ? constantInput(conversion, 2).data : undefined,
    stride: spatial(node, 'strides'),
    padding: padding(node),
    isDepthwise,
  })
  if (!activation) return fromFeatureMap(convolved)
  const name = fusedActivation(conversion, convolved.name, activation)
  return fromFeatureMap({ ...convolved, name })
}

/** Returns height and width of four numbers for batch, height, width and channels. */
function spatial(node: TopologyNode, key: string): Size2 {
  const [, height = 1, width = 1] = integersAttribute(node, key)
  return [height, width]
}

function padding(node: TopologyNode): Padding {
  const name = stringAttribute(node, 'padding')
  if (name !== 'SAME' && name !== 'VALID') throw new Error(`the padding ${name} is not supported`)
  return name
}

/** Operators that change the shape of a tensor, and padding with zeros. */
const shapeConverters: Readonly<Record<string, NodeConverter>> = {
  Identity: ({ inputs: [value] }) => {
    if (!value) throw new Error('the node has no input')
    return value
  },
  /**
   * The first dimension of the new shape is always the batch; `-1` keeps its size. With images of any
   * size the second one, the cells or anchors, depends on the size.
   */
  Reshape: (conversion) => {
    const input = tensorInput(conversion, 0)
    const [, ...sizes] = constantInput(conversion, 1).data
    const knownSize = sizeOf(sizes.filter((size) => size !== -1))
    const shape = sizes.map((size) => (size === -1 ? sizeOf(input.shape) / knownSize : size))
    const { graph, isAnySize } = conversion
    const newShape = graph.integers(isAnySize ? [0, -1, ...shape.slice(1)] : [-1, ...shape])
    const ordered = inTensorFlowOrder(graph, input)
    return tensor(graph.add('Reshape', [ordered, newShape]), [1, ...shape])
  },
  Pad: (conversion) => {
    const { name, shape } = tensorInput(conversion, 0)
    const amounts = constantInput(conversion, 1).data
    if (shape.length !== 4) throw new Error('Pad needs four dimensions')
    const before = shape.map((_, axis) => amounts[2 * axis] ?? 0)
    const after = shape.map((_, axis) => amounts[2 * axis + 1] ?? 0)
    const pads = [...toNchw(before), ...toNchw(after)]
    const padded = conversion.graph.add('Pad', [name, conversion.graph.integers(pads)])
    const paddedShape = shape.map((size, axis) => size + (before[axis] ?? 0) + (after[axis] ?? 0))
    return tensor(padded, paddedShape)
  },
}

function toNchw([batch = 0, height = 0, width = 0, channels = 0]: readonly number[]): number[] {
  return [batch, channels, height, width]
}

/** Operators of the head of a network: from feature maps to features, and from features to outputs. */
const denseConverters: Readonly<Record<string, NodeConverter>> = {
  Mean: (conversion) => {
    const { name, channels } = featureMapInput(conversion, 0)
    const axes = constantInput(conversion, 1).data
    if (axes.join() !== '1,2' || booleanAttribute(conversion.node, 'keep_dims'))
      throw new Error('only a mean over height and width is supported')
    const { graph } = conversion
    const mean = graph.add('GlobalAveragePool', [name])
    return tensor(graph.add('Flatten', [mean], { axis: 1 }), [1, channels])
  },
  /** Inputs: features, weights `[in, out]`, bias. */
  _FusedMatMul: (conversion) => {
    const { node, graph } = conversion
    const [bias, activation] = stringsAttribute(node, 'fused_ops')
    const isTransposed = ['transpose_a', 'transpose_b'].some((key) => booleanAttribute(node, key))
    if (bias !== 'BiasAdd' || isTransposed)
      throw new Error('only a dense layer with a bias is supported')
    const weights = constantInput(conversion, 1)
    const biases = constantInput(conversion, 2).data
    const name = graph.add('Gemm', [
      tensorInput(conversion, 0).name,
      graph.floats(weights.data, weights.shape),
      graph.floats(biases, [biases.length]),
    ])
    const shape = [1, biases.length]
    if (!activation) return tensor(name, shape)
    return tensor(fusedActivation(conversion, name, activation), shape)
  },
}

/** Operators on two tensors of one shape, or on a tensor and one number (or one number per channel). */
const arithmeticConverters: Readonly<Record<string, NodeConverter>> = {
  Add: binary('Add'),
  AddV2: binary('Add'),
  Mul: binary('Mul'),
}

function binary(operator: string): NodeConverter {
  return (conversion) => {
    const { shape } = tensorInput(conversion, 0)
    const names = conversion.inputs.map((value) => operandName(conversion, value, shape.length))
    return tensor(conversion.graph.add(operator, names), shape)
  }
}

/** Expands a constant to the rank of the other operand and transposes it to NCHW. */
function operandName({ graph }: NodeConversion, value: GraphValue, rank: number): string {
  if (value.kind === 'tensor') return value.name
  if (rank !== 4 || value.data.length === 1) return graph.floats(value.data, value.shape)
  const shape = [1, 1, 1, 1, ...value.shape].slice(-4)
  const order = [0, 3, 1, 2]
  const reordered = order.map((axis) => shape[axis] ?? 1)
  return graph.floats(transpose(value.data, shape, order), reordered)
}

/** The supported operators of TensorFlow.js. */
export const operatorConverters = {
  ...activationConverters,
  ...arithmeticConverters,
  ...convolutionConverters,
  ...denseConverters,
  ...shapeConverters,
}
