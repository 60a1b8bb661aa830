import type { GraphBuilder } from '../onnx/graph.ts'

/**
 * Converts encodings `[N, priors, 4]` to boxes: top, left, bottom, right as fractions of the square
 * image. An encoding is the difference of a box from its prior: the centre in tenths of the size of
 * the prior, then the logarithm of the size in fifths.
 *
 * @param priors top, left, bottom, right of each prior.
 */
export function decodeBoxes(graph: GraphBuilder, encodings: string, priors: Float32Array): string {
  const count = priors.length / 4
  const { sizes, centres } = sizesAndCentres(priors)
  const priorSizes = graph.floats(sizes, [1, count, 2])
  const shifts = scaled(graph, lastAxis(graph, encodings, { from: 0, to: 2 }), 0.1)
  const offsets = graph.add('Mul', [shifts, priorSizes])
  const boxCentres = graph.add('Add', [offsets, graph.floats(centres, [1, count, 2])])
  const logScales = scaled(graph, lastAxis(graph, encodings, { from: 2, to: 4 }), 0.2)
  const boxSizes = graph.add('Mul', [graph.add('Exp', [logScales]), priorSizes])
  const halfSizes = scaled(graph, boxSizes, 0.5)
  const topLeft = graph.add('Sub', [boxCentres, halfSizes])
  const bottomRight = graph.add('Add', [boxCentres, halfSizes])
  return graph.add('Concat', [topLeft, bottomRight], { axis: 2 })
}

/** The probability of "face", the second of three classes, `[N, priors]`. */
export function faceScores(graph: GraphBuilder, classes: string, priorCount: number): string {
  const face = graph.add('Sigmoid', [lastAxis(graph, classes, { from: 1, to: 2 })])
  return graph.add('Reshape', [face, graph.integers([-1, priorCount])])
}

/** Sizes and centres of the priors, each `[priors, 2]`, vertical axis first. */
function sizesAndCentres(priors: Float32Array): {
  readonly sizes: Float32Array
  readonly centres: Float32Array
} {
  const sizes = new Float32Array(priors.length / 2)
  const centres = new Float32Array(priors.length / 2)
  for (let prior = 0; prior < priors.length / 4; prior++)
    for (const axis of [0, 1]) {
      const start = priors[4 * prior + axis] ?? 0
      const end = priors[4 * prior + axis + 2] ?? 0
      sizes[2 * prior + axis] = end - start
      centres[2 * prior + axis] = start + (end - start) / 2
    }
  return { sizes, centres }
}

function scaled(graph: GraphBuilder, name: string, factor: number): string {
  return graph.add('Mul', [name, graph.floats([factor], [])])
}

/** The numbers from `from` (inclusive) to `to` (exclusive) of every prior. */
function lastAxis(
  graph: GraphBuilder,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const bounds = [from, to, 2].map((value) => graph.integers([value]))
  return graph.add('Slice', [name, ...bounds])
}
