import type { UnusableImage } from '../../evaluation/face-images.ts'

/** More unusable images are counted in the text, but only the JSON report names them. */
const namesMax = 100

/** Returns the number of unusable images by reason, then their names. Empty if there are none. */
export function unusableLines(unusable: readonly UnusableImage[]): string[] {
  if (unusable.length === 0) return []
  const counts = [...Map.groupBy(unusable, ({ reason }) => reason)]
    .map(([reason, images]) => ({ reason, count: images.length }))
    .toSorted((a, b) => b.count - a.count)
  const named = unusable.slice(0, namesMax)
  const left = unusable.length - named.length
  return [
    `unusable   ${unusable.length}: ${counts.map(({ reason, count }) => `${reason} ${count}`).join(', ')}`,
    ...named.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    ...(left > 0 ? [`unusable   ${left} more, named with --json`] : []),
  ]
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
