import type { TopologyNode } from './topology.ts'

/**
 * Replaces `Maximum(Minimum(Relu(x), high), low)` by one `Relu6(x, low, high)`. The TensorFlow.js
 * converter writes the ReLU6 of Keras in this form. Three separate operators read and write the memory
 * three times: faceres takes 13.0 ms instead of 11.5.
 */
export function fuseRelu6(nodes: readonly TopologyNode[]): readonly TopologyNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const sourceOf = (node: TopologyNode | undefined, op: string): TopologyNode | undefined => {
    const source = byName.get(node?.input?.[0] ?? '')
    return source?.op === op ? source : undefined
  }
  return nodes.map((maximum) => {
    const minimum = maximum.op === 'Maximum' ? sourceOf(maximum, 'Minimum') : undefined
    const [x] = sourceOf(minimum, 'Relu')?.input ?? []
    const low = maximum.input?.[1]
    const high = minimum?.input?.[1]
    if (!x || !low || !high) return maximum
    return { name: maximum.name, op: 'Relu6', input: [x, low, high] }
  })
}
