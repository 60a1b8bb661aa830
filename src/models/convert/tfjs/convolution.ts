import { convolve, pool } from '../onnx/layers.ts'
import type { Padding } from '../onnx/layers.ts'
import type { Size2 } from '../onnx/layout.ts'
import { fusedActivation } from './activation.ts'
import { constantInput, featureMapInput, fromFeatureMap } from './node-conversion.ts'
import type { NodeConversion, NodeConverter } from './node-conversion.ts'
import { integersAttribute, stringAttribute, stringsAttribute } from './topology.ts'
import type { TopologyNode } from './topology.ts'

/** Everything that slides a window over a picture. */
export const convolutionConverters: Readonly<Record<string, NodeConverter>> = {
  Conv2D: (operation) => convolution(operation, false),
  _FusedConv2D: (operation) => convolution(operation, false),
  DepthwiseConv2dNative: (operation) => convolution(operation, true),
  MaxPool: (operation) => {
    const { node, graph } = operation
    const pooled = pool(graph, 'MaxPool', featureMapInput(operation, 0), {
      kernel: spatial(node, 'ksize'),
      stride: spatial(node, 'strides'),
      padding: padding(node),
    })
    return fromFeatureMap(pooled)
  },
}

/** Inputs: picture, filters, and when they are fused in, bias and slopes of the activation. */
function convolution(operation: NodeConversion, isDepthwise: boolean): ReturnType<NodeConverter> {
  const { node, graph } = operation
  const [bias, activation] = stringsAttribute(node, 'fused_ops')
  if (spatial(node, 'dilations').some((step) => step !== 1)) throw new Error('it is dilated')
  const convolved = convolve(graph, featureMapInput(operation, 0), {
    filters: constantInput(operation, 1),
    bias: bias === 'BiasAdd' ? constantInput(operation, 2).data : undefined,
    stride: spatial(node, 'strides'),
    padding: padding(node),
    isDepthwise,
  })
  if (!activation) return fromFeatureMap(convolved)
  const name = fusedActivation(operation, convolved.name, { activation, slopesIndex: 3 })
  return fromFeatureMap({ ...convolved, name })
}

/** The two middle ones of four numbers for batch, height, width and channels. */
function spatial(node: TopologyNode, key: string): Size2 {
  const [, height = 1, width = 1] = integersAttribute(node, key)
  return [height, width]
}

function padding(node: TopologyNode): Padding {
  const name = stringAttribute(node, 'padding')
  if (name !== 'SAME' && name !== 'VALID') throw new Error(`no padding ${name}`)
  return name
}
