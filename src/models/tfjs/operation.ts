import type { GraphBuilder } from '../onnx/graph.ts'
import type { FeatureMap } from '../onnx/layers.ts'
import type { Weights } from '../weights.ts'
import type { TopologyNode } from './topology.ts'

/** What a node of the TensorFlow.js graph turns into. */
export type Value = Constant | Tensor

/** A value known at conversion. */
export type Constant = Weights & { readonly kind: 'constant' }

/**
 * A value known at run time. `shape` is TensorFlow's, with a batch of one in front. A tensor of four
 * dimensions, `[1, height, width, channels]` there, lies in the ONNX graph as NCHW; all others lie as
 * they are.
 */
export type Tensor = {
  readonly kind: 'tensor'
  readonly name: string
  readonly shape: readonly number[]
}

/** Turns one node into nodes of the ONNX graph. */
export type Operator = (operation: Operation) => Value

export type Operation = {
  readonly node: TopologyNode
  readonly inputs: readonly Value[]
  readonly graph: GraphBuilder
}

export function tensorInput({ inputs }: Operation, index: number): Tensor {
  const value = inputs[index]
  if (value?.kind !== 'tensor') throw new Error(`input ${index} is not known at run time only`)
  return value
}

export function constantInput({ inputs }: Operation, index: number): Constant {
  const value = inputs[index]
  if (value?.kind !== 'constant') throw new Error(`input ${index} is not known at conversion`)
  return value
}

export function featureMapInput(operation: Operation, index: number): FeatureMap {
  const { name, shape } = tensorInput(operation, index)
  const [, height = 0, width = 0, channels = 0] = shape
  if (shape.length !== 4) throw new Error(`input ${index} is not a stack of pictures`)
  return { name, size: [height, width], channels }
}

export function tensor(name: string, shape: readonly number[]): Tensor {
  return { kind: 'tensor', name, shape }
}

export function fromFeatureMap({ name, size, channels }: FeatureMap): Tensor {
  return tensor(name, [1, ...size, channels])
}

/** The name of the same values in TensorFlow's order. */
export function inTensorFlowOrder(graph: GraphBuilder, { name, shape }: Tensor): string {
  return shape.length === 4 ? graph.add('Transpose', [name], { perm: [0, 2, 3, 1] }) : name
}
