import { z } from 'zod'
import { weightsGroupSchema } from '../weights.ts'

/** The protocol buffer AttrValue as JSON: integers are strings, strings are base64. */
const attributeValue = z.object({
  s: z.string().optional(),
  b: z.boolean().optional(),
  list: z
    .object({ s: z.array(z.string()).optional(), i: z.array(z.string()).optional() })
    .optional(),
  shape: z.object({ dim: z.array(z.object({ size: z.string() })).optional() }).optional(),
})

const topologyNode = z.object({
  name: z.string(),
  op: z.string(),
  /** Names of the nodes that this one reads. */
  input: z.array(z.string()).optional(),
  attr: z.record(z.string(), attributeValue).optional(),
})

export type TopologyNode = z.infer<typeof topologyNode>

/** Validates a graph model; further fields are ignored. */
export const graphModelSchema = z.object({
  modelTopology: z.object({ node: z.array(topologyNode) }),
  weightsManifest: z.tuple([weightsGroupSchema]),
})

/** A graph model of TensorFlow.js: the JSON beside the file of weights. */
export type GraphModel = z.infer<typeof graphModelSchema>

/** A built-in network has at most a few hundred nodes one after another. */
const depthMax = 2000

/**
 * Returns the nodes that `outputs` need; each node follows the nodes that it reads.
 *
 * @throws Error when a node is missing, reads its own result, or is too deep in the graph.
 */
export function nodesInOrder(nodes: readonly TopologyNode[], outputs: readonly string[]) {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const ordered = new Set<TopologyNode>()
  const open = new Set<TopologyNode>()
  const visit = (name: string): void => {
    const node = byName.get(name)
    if (!node) throw new Error(`the graph has no node ${name}`)
    if (ordered.has(node)) return
    if (open.has(node)) throw new Error(`the node ${name} reads its own result`)
    if (open.size >= depthMax) throw new Error(`the node ${name} is over ${depthMax} nodes deep`)
    open.add(node)
    node.input?.forEach(visit)
    open.delete(node)
    ordered.add(node)
  }
  outputs.forEach(visit)
  return [...ordered]
}

/** Returns the names of the nodes that no other node reads. */
export function unconsumedNodes(nodes: readonly TopologyNode[]): readonly string[] {
  const read = new Set(nodes.flatMap((node) => node.input ?? []))
  return nodes.map(({ name }) => name).filter((name) => !read.has(name))
}

export function stringAttribute(node: TopologyNode, key: string): string {
  return decodeBase64(node.attr?.[key]?.s ?? '')
}

export function stringsAttribute(node: TopologyNode, key: string): readonly string[] {
  return (node.attr?.[key]?.list?.s ?? []).map(decodeBase64)
}

export function integersAttribute(node: TopologyNode, key: string): readonly number[] {
  return (node.attr?.[key]?.list?.i ?? []).map(Number)
}

export function booleanAttribute(node: TopologyNode, key: string): boolean {
  return node.attr?.[key]?.b ?? false
}

export function shapeAttribute(node: TopologyNode, key: string): readonly number[] {
  return (node.attr?.[key]?.shape?.dim ?? []).map(({ size }) => Number(size))
}

function decodeBase64(text: string): string {
  return Buffer.from(text, 'base64').toString()
}
