import { buildGraph, encodeModel } from '../../../src/models/convert/onnx/graph.ts'
import type { Point, Rect } from '../../../src/vision/image/geometry.ts'

/** Constant outputs of a network for one image: name → values. */
export type NetworkOutputs = Readonly<Record<string, readonly number[]>>

/** The side of the input of a constant network, px. */
export const constantSidePx = 32

/** Creates a network for 32×32 images that returns the same outputs for each of them. */
export function constantNetwork(outputs: NetworkOutputs): Uint8Array {
  const graph = buildGraph('constants')
  graph.input('input', [3, constantSidePx, constantSidePx])
  for (const [name, values] of Object.entries(outputs))
    graph.output(name, graph.floats(values, [1, values.length]), [values.length])
  return encodeModel(graph.graph)
}

/** Returns the outputs of a YuNet that reports one face, in px of the input, and nothing else. */
export function yunetOutputs(face: {
  readonly box: Rect
  readonly points: readonly Point[]
  readonly score: number
}): NetworkOutputs {
  const outputs: Record<string, readonly number[]> = {}
  for (const [stride, cells] of [
    [8, 16],
    [16, 4],
    [32, 1],
  ] as const)
    for (const [name, perCell] of Object.entries({ cls: 1, obj: 1, bbox: 4, kps: 10 }))
      outputs[`${name}_${stride}`] = Array.from({ length: cells * perCell }, () => 0)
  const { x, y, width, height } = face.box
  const side = constantSidePx
  return {
    ...outputs,
    cls_32: [face.score],
    obj_32: [face.score],
    bbox_32: [
      (x + width / 2) / side,
      (y + height / 2) / side,
      Math.log(width / side),
      Math.log(height / side),
    ],
    kps_32: face.points.flatMap((point) => [point.x / side, point.y / side]),
  }
}
