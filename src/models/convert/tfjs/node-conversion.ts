import type { GraphBuilder } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import type { WeightTensor } from '../weights.ts'
import type { TopologyNode } from './topology.ts'

/** The result of the conversion of a TensorFlow.js node. */
export type GraphValue = ConstantValue | RuntimeTensor

/** A value that is known at conversion. */
export type ConstantValue = WeightTensor & { readonly kind: 'constant' }

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

export function tensorInput({ inputs }: NodeConversion, index: number): RuntimeTensor {
  const value = inputs[index]
  if (value?.kind !== 'tensor') throw new Error(`input ${index} must be a run-time value`)
  return value
}

export function constantInput({ inputs }: NodeConversion, index: number): ConstantValue {
  const value = inputs[index]
  if (value?.kind !== 'constant') throw new Error(`input ${index} must be a constant`)
  return value
}

export function featureMapInput(conversion: NodeConversion, index: number): FeatureMap {
  const { name, shape } = tensorInput(conversion, index)
  const [, height = 0, width = 0, channels = 0] = shape
  if (shape.length !== 4) throw new Error(`input ${index} must have four dimensions`)
  return { name, size: [height, width], channels }
}

export function tensor(name: string, shape: readonly number[]): RuntimeTensor {
  return { kind: 'tensor', name, shape }
}

export function fromFeatureMap({ name, size, channels }: FeatureMap): RuntimeTensor {
  return tensor(name, [1, ...size, channels])
}

/** Returns the name of the value in TensorFlow's order; adds a Transpose if it is needed. */
export function inTensorFlowOrder(graph: GraphBuilder, { name, shape }: RuntimeTensor): string {
  return shape.length === 4 ? graph.add('Transpose', [name], { perm: [0, 2, 3, 1] }) : name
}
