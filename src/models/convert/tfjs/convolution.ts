import { convolve, pool, type Padding } from '../onnx/layers.ts'
import type { Size2 } from '../onnx/layout.ts'
import { fusedActivation } from './activation.ts'
import { constantInput, featureMapInput, fromFeatureMap } from './node-conversion.ts'
import type { NodeConversion, NodeConverter } from './node-conversion.ts'
import { integersAttribute, stringAttribute, stringsAttribute } from './topology.ts'
import type { TopologyNode } from './topology.ts'

/** Operators that move a window over an image. */
export const convolutionConverters: Readonly<Record<string, NodeConverter>> = {
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
