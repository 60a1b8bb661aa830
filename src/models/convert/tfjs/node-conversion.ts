import type { GraphBuilder } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import type { WeightTensor } from '../weights.ts'
import type { TopologyNode } from './topology.ts'

/** What a node of the TensorFlow.js graph turns into. */
export type GraphValue = ConstantValue | RuntimeTensor

/** A value known at conversion. */
export type ConstantValue = WeightTensor & { readonly kind: 'constant' }

/**
 * A value known at run time. `shape` is TensorFlow's, with a batch of one in front. A tensor of four
 * dimensions, `[1, height, width, channels]` there, lies in the ONNX graph as NCHW; all others lie as
 * they are.
 */
export type RuntimeTensor = {
  readonly kind: 'tensor'
  readonly name: string
  readonly shape: readonly number[]
}

/** Turns one node into nodes of the ONNX graph. */
export type NodeConverter = (operation: NodeConversion) => GraphValue

export type NodeConversion = {
  readonly node: TopologyNode
  readonly inputs: readonly GraphValue[]
  readonly graph: GraphBuilder
}

export function tensorInput({ inputs }: NodeConversion, index: number): RuntimeTensor {
  const value = inputs[index]
  if (value?.kind !== 'tensor') throw new Error(`input ${index} is not known at run time only`)
  return value
}

export function constantInput({ inputs }: NodeConversion, index: number): ConstantValue {
  const value = inputs[index]
  if (value?.kind !== 'constant') throw new Error(`input ${index} is not known at conversion`)
  return value
}

export function featureMapInput(operation: NodeConversion, index: number): FeatureMap {
  const { name, shape } = tensorInput(operation, index)
  const [, height = 0, width = 0, channels = 0] = shape
  if (shape.length !== 4) throw new Error(`input ${index} is not a stack of pictures`)
  return { name, size: [height, width], channels }
}

export function tensor(name: string, shape: readonly number[]): RuntimeTensor {
  return { kind: 'tensor', name, shape }
}

export function fromFeatureMap({ name, size, channels }: FeatureMap): RuntimeTensor {
  return tensor(name, [1, ...size, channels])
}

/** The name of the same values in TensorFlow's order. */
export function inTensorFlowOrder(graph: GraphBuilder, { name, shape }: RuntimeTensor): string {
  return shape.length === 4 ? graph.add('Transpose', [name], { perm: [0, 2, 3, 1] }) : name
}
