import type { GraphBuilder } from '../onnx/graph.ts'

/**
 * Turns encodings `[N, priors, 4]` (how far a box is from its prior, centre first, in tenths and
 * fifths of the prior's size) into boxes: top, left, bottom, right as fractions of the square picture.
 *
 * @param priors top, left, bottom, right of each prior.
 */
export function decodeBoxes(graph: GraphBuilder, encodings: string, priors: Float32Array): string {
  const count = priors.length / 4
  const { sizes, centres } = sizesAndCentres(priors)
  const priorSizes = graph.floats(sizes, [1, count, 2])
  const shifts = scaled(graph, lastAxis(graph, encodings, { from: 0, to: 2 }), 0.1)
  const moved = graph.add('Mul', [shifts, priorSizes])
  const boxCentres = graph.add('Add', [moved, graph.floats(centres, [1, count, 2])])
  const stretches = scaled(graph, lastAxis(graph, encodings, { from: 2, to: 4 }), 0.2)
  const boxSizes = graph.add('Mul', [graph.add('Exp', [stretches]), priorSizes])
  const halves = scaled(graph, boxSizes, 0.5)
  const topLeft = graph.add('Sub', [boxCentres, halves])
  const bottomRight = graph.add('Add', [boxCentres, halves])
  return graph.add('Concat', [topLeft, bottomRight], { axis: 2 })
}

/** The probability of the class "face", the second of three, `[N, priors]`. */
export function scores(graph: GraphBuilder, classes: string, priorCount: number): string {
  const face = graph.add('Sigmoid', [lastAxis(graph, classes, { from: 1, to: 2 })])
  return graph.add('Reshape', [face, graph.integers([-1, priorCount])])
}

function sizesAndCentres(priors: Float32Array): {
  readonly sizes: Float32Array
  readonly centres: Float32Array
} {
  const sizes = new Float32Array(priors.length / 2)
  const centres = new Float32Array(priors.length / 2)
  for (let index = 0; index < sizes.length; index++) {
    const start = priors[index * 2 - (index % 2)] ?? 0
    const end = priors[index * 2 - (index % 2) + 2] ?? 0
    sizes[index] = end - start
    centres[index] = start + (end - start) / 2
  }
  return { sizes, centres }
}

function scaled(graph: GraphBuilder, name: string, factor: number): string {
  return graph.add('Mul', [name, graph.floats([factor], [])])
}

function lastAxis(
  graph: GraphBuilder,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const [start, end, axis] = [from, to, 2].map((value) => graph.integers([value]))
  return graph.add('Slice', [name, start ?? '', end ?? '', axis ?? ''])
}
