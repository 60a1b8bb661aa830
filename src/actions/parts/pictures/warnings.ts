import type { ProbeFace } from '../extract-probes.ts'

/** Returns `warnings` of a value; nothing if there are none. */
export function toWarnings(...texts: readonly string[]): { readonly warnings?: string[] } {
  return texts.length > 0 ? { warnings: [...texts] } : {}
}

/** Warns that an action without `allImages` has used only the first image. */
export function unusedImages({ images, allImages }: ImageSelection): string[] {
  return allImages || images.length < 2 ? [] : ['images[1] and later were not used; set allImages']
}

type ImageSelection = { readonly images: readonly unknown[]; readonly allImages: boolean }

/**
 * Below this quality a stored picture is missed clearly more often: at 0.80, 16 % of comparisons with
 * the same person from quality 70 to 80, and 4 % from 90 (docs/recognition/quality.md).
 */
const enrollQualityAdvised = 75

/** Warns about stored pictures that will often be missed. */
export function enrollWarnings(
  embeddingCount: number,
  pictures: readonly { readonly index: number; readonly probe: ProbeFace }[],
): string[] {
  const poor = pictures.filter(({ probe }) => probe.qualityScore < enrollQualityAdvised)
  return [
    ...(embeddingCount === 1
      ? ['the subject has one template only; add a second picture to reduce misses']
      : []),
    ...poor.map(
      ({ index, probe }) =>
        `images[${index}]: the quality is ${probe.qualityScore}, below ${enrollQualityAdvised}; expect more misses, and replace the picture if you can`,
    ),
  ]
}
