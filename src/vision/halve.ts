import type { Frame } from './frame.ts'

/**
 * `frame` at half its width and height, every pixel the mean of four. An odd side is rounded up: what
 * is missing at the rim is its last pixel once more.
 *
 * In JavaScript, because a call of libvips on pixels costs a millisecond before it has done anything:
 * 1.1 ms for 1280×720 here and 0.3 ms for half of it, 1.8 and 1.2 ms there.
 */
export function halve({ width, height, pixels }: Frame): Frame {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const halved = new Uint8Array(3 * half.width * half.height)
  const stride = 3 * width
  const pairs = width >> 1
  for (let y = 0, to = 0; y < half.height; y++) {
    let upper = 2 * y * stride
    let lower = 2 * y + 1 < height ? upper + stride : upper
    for (let x = 0; x < pairs; x++, to += 3, upper += 6, lower += 6) {
      halved[to] =
        ((pixels[upper] ?? 0) +
          (pixels[upper + 3] ?? 0) +
          (pixels[lower] ?? 0) +
          (pixels[lower + 3] ?? 0) +
          2) >>
        2
      halved[to + 1] =
        ((pixels[upper + 1] ?? 0) +
          (pixels[upper + 4] ?? 0) +
          (pixels[lower + 1] ?? 0) +
          (pixels[lower + 4] ?? 0) +
          2) >>
        2
      halved[to + 2] =
        ((pixels[upper + 2] ?? 0) +
          (pixels[upper + 5] ?? 0) +
          (pixels[lower + 2] ?? 0) +
          (pixels[lower + 5] ?? 0) +
          2) >>
        2
    }
    if (half.width > pairs)
      for (let channel = 0; channel < 3; channel++, to++)
        halved[to] = ((pixels[upper + channel] ?? 0) + (pixels[lower + channel] ?? 0) + 1) >> 1
  }
  return { ...half, pixels: halved }
}
