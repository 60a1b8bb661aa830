import type { TemplateVector } from '../../src/gallery/calibration/similarity.ts'

export type { TemplateVector }

/** Templates with the statistics of face templates, in shared memory. */
export type TemplateMatrix = {
  /** Faces × dimensions. */
  readonly vectors: Float32Array
  readonly densities: Float32Array
}

const builtinDimensions = 256
/** With `TWO_RECOGNIZERS=1`: templates of the built-in recognizer together with MobileFaceNet. */
const installedDimensions = process.env['TWO_RECOGNIZERS'] === '1' ? 128 : 0
export const dimensions = builtinDimensions + installedDimensions

/** Mean squared length of a template, similar to a fused template. */
const squaredLength = 2.2
/** That of the values of MobileFaceNet, about their mean; their axes vary equally. */
const installedSquaredLength = 3.9
/** Number of axes over which the variation falls by a factor of e, as for principal axes. */
const axesPerDecay = 40

/** Allocates memory for `count` faces. */
export function allocateTemplates(count: number): TemplateMatrix {
  return {
    vectors: new Float32Array(new SharedArrayBuffer(count * dimensions * 4)),
    densities: new Float32Array(new SharedArrayBuffer(count * 4)),
  }
}

/** Faces that are read once, in their order. */
export type TemplateSource = {
  readonly count: number
  readonly read: (from: number, to: number) => TemplateVector[]
}

export function sourceOf(faces: TemplateMatrix): TemplateSource {
  const read = (from: number, to: number): TemplateVector[] =>
    Array.from({ length: to - from }, (_, offset) => templateAt(faces, from + offset))
  return { count: faces.densities.length, read }
}

/**
 * Creates faces while they are read, for sizes at which a system and all faces do not fit in memory
 * together. `probes` returns probes of the faces that were read, like `makeProbes`.
 */
export function createStream(count: number, probeCount: number) {
  const next = createTemplateSource()
  const mates = allocateTemplates(probeCount)
  const source: TemplateSource = {
    count,
    read: (from, to) =>
      Array.from({ length: to - from }, (_, offset) => {
        const face = next()
        const probe = Math.floor(((from + offset) * probeCount) / count)
        if (from + offset === mateRow(probe, probeCount, count))
          mates.vectors.set(face.vector, probe * dimensions)
        return face
      }),
  }
  return { source, probes: () => makeProbes(mates, probeCount) }
}

/** Returns the row that a probe is similar to; rows are distributed evenly. */
function mateRow(probe: number, probes: number, rows: number): number {
  return Math.floor(((probe + 0.5) / probes) * rows)
}

/** Returns a function that creates one face after another, like those of `fillTemplates`. */
export function createTemplateSource(): () => TemplateVector {
  const random = normalNumbers(1)
  const spread = axisDeviations()
  return () => {
    const vector = new Float32Array(dimensions)
    for (let axis = 0; axis < dimensions; axis++) vector[axis] = random() * (spread[axis] ?? 0)
    return { vector, density: -2.4 + random() * 0.15 }
  }
}

/** Fills the memory with faces: normally distributed in each axis, with falling variation. */
export function fillTemplates({ vectors, densities }: TemplateMatrix): void {
  const random = normalNumbers(1)
  const spread = axisDeviations()
  for (let index = 0; index < vectors.length; index++)
    vectors[index] = random() * (spread[index % dimensions] ?? 0)
  for (let row = 0; row < densities.length; row++) densities[row] = -2.4 + random() * 0.15
}

/**
 * Returns probes that alternate between an enrolled person (as far from the template as another image
 * of the person) and a person outside the gallery, whose best match is much harder to find.
 */
export function makeProbes(faces: TemplateMatrix, count: number): TemplateMatrix {
  const probes = allocateTemplates(count)
  const random = normalNumbers(2)
  const spread = axisDeviations()
  const galleryRows = faces.densities.length
  for (let probe = 0; probe < count; probe++) {
    const row = mateRow(probe, count, galleryRows)
    const mateShare = probe % 2 === 0 ? 0.8 : 0
    const noise = Math.sqrt(1 - mateShare * mateShare)
    for (let axis = 0; axis < dimensions; axis++) {
      const mate = faces.vectors[row * dimensions + axis] ?? 0
      probes.vectors[probe * dimensions + axis] =
        mate * mateShare + random() * (spread[axis] ?? 0) * noise
    }
    probes.densities[probe] = -2.4
  }
  return probes
}

/** Returns a copy, because sending a view would send the whole memory. */
export function templateAt({ vectors, densities }: TemplateMatrix, row: number): TemplateVector {
  const vector = Float32Array.from(vectors.subarray(row * dimensions, (row + 1) * dimensions))
  return { vector, density: densities[row] ?? 0 }
}

function axisDeviations(): Float64Array {
  const variances = Float64Array.from({ length: builtinDimensions }, (_, axis) =>
    Math.exp(-axis / axesPerDecay),
  )
  const sum = variances.reduce((total, variance) => total + variance, 0)
  return Float64Array.from({ length: dimensions }, (_, axis) =>
    Math.sqrt(
      axis < builtinDimensions
        ? ((variances[axis] ?? 0) / sum) * squaredLength
        : installedSquaredLength / installedDimensions,
    ),
  )
}

/** Approximately normal numbers (the sum of four uniform ones), deterministic. */
function normalNumbers(seed: number): () => number {
  let state = seed
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
  return () => (uniform() + uniform() + uniform() + uniform()) * Math.sqrt(3 / 4)
}
