import { meanOf, type AffineTransform, type Point } from '../../image/geometry.ts'

/**
 * Returns the affine transform that maps `from` closest to `to` in the least-squares sense. It is
 * what the camera sees of a plane that turns, apart from its perspective.
 *
 * @throws RangeError if the points are on one line.
 */
export function fitAffine(from: readonly Point[], to: readonly Point[]): AffineTransform {
  const fromMean = meanOf(from)
  const toMean = meanOf(to)
  const sums = { xx: 0, xy: 0, yy: 0, xu: 0, yu: 0, xv: 0, yv: 0 }
  for (const [index, point] of from.entries()) {
    const x = point.x - fromMean.x
    const y = point.y - fromMean.y
    const u = (to[index]?.x ?? 0) - toMean.x
    const v = (to[index]?.y ?? 0) - toMean.y
    sums.xx += x * x
    sums.xy += x * y
    sums.yy += y * y
    sums.xu += x * u
    sums.yu += y * u
    sums.xv += x * v
    sums.yv += y * v
  }
  const determinant = sums.xx * sums.yy - sums.xy ** 2
  if (!(determinant > 0)) throw new RangeError('the points are on one line')
  const a = (sums.xu * sums.yy - sums.yu * sums.xy) / determinant
  const b = (sums.yu * sums.xx - sums.xu * sums.xy) / determinant
  const d = (sums.xv * sums.yy - sums.yv * sums.xy) / determinant
  const e = (sums.yv * sums.xx - sums.xv * sums.xy) / determinant
  const c = toMean.x - a * fromMean.x - b * fromMean.y
  const f = toMean.y - d * fromMean.x - e * fromMean.y
  return { a, b, c, d, e, f }
}
