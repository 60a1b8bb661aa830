import type { Frame } from './frame.ts'

/**
 * Returns `frame` at half its width and height; every pixel is the mean of four. An odd side is
 * rounded up, and its last pixel is repeated.
 *
 * Written in JavaScript, because a call to libvips has a fixed cost of a millisecond. A frame of
 * 1280×720 takes 0.7 ms here and 1.8 ms with libvips; half of it takes 0.2 ms and 1.2 ms.
 */
export function downscale2x(frame: Frame): Frame {
  const hasWholeWords = frame.width % 4 === 0 && frame.height % 2 === 0
  return hasWholeWords && frame.pixels.byteOffset % 4 === 0
    ? downscaleByWords(frame)
    : downscaleByBytes(frame)
}

/** Selects every second byte of a word, so that sums of bytes do not overflow into each other. */
const alternateBytesMask = 0x00_ff_00_ff

/**
 * Processes four pixels as three words: R0 G0 B0 R1, G1 B1 R2 G2, B2 R3 G3 B3 from the lowest byte
 * up, as on every processor that Node runs on. Two rows are added two bytes at a time. This takes
 * 0.7 ms where single bytes take 1.15 ms.
 */
function downscaleByWords({ width, height, pixels }: Frame): Frame {
  const half = { width: width / 2, height: height / 2 }
  const output = new Uint8Array(3 * half.width * half.height)
  const words = new Int32Array(pixels.buffer, pixels.byteOffset, (3 * width * height) / 4)
  const stride = (3 * width) / 4
  for (let y = 0, to = 0; y < half.height; y++) {
    let from = 2 * y * stride
    for (const end = from + stride; from < end; from += 3, to += 6) {
      const a = words[from] ?? 0
      const b = words[from + 1] ?? 0
      const c = words[from + 2] ?? 0
      const d = words[from + stride] ?? 0
      const e = words[from + stride + 1] ?? 0
      const f = words[from + stride + 2] ?? 0
      const r0b0 = (a & alternateBytesMask) + (d & alternateBytesMask)
      const g0r1 = ((a >>> 8) & alternateBytesMask) + ((d >>> 8) & alternateBytesMask)
      const g1r2 = (b & alternateBytesMask) + (e & alternateBytesMask)
      const b1g2 = ((b >>> 8) & alternateBytesMask) + ((e >>> 8) & alternateBytesMask)
      const b2g3 = (c & alternateBytesMask) + (f & alternateBytesMask)
      const r3b3 = ((c >>> 8) & alternateBytesMask) + ((f >>> 8) & alternateBytesMask)
      output[to] = ((r0b0 & 0xffff) + (g0r1 >>> 16) + 2) >> 2
      output[to + 1] = ((g0r1 & 0xffff) + (g1r2 & 0xffff) + 2) >> 2
      output[to + 2] = ((r0b0 >>> 16) + (b1g2 & 0xffff) + 2) >> 2
      output[to + 3] = ((g1r2 >>> 16) + (r3b3 & 0xffff) + 2) >> 2
      output[to + 4] = ((b1g2 >>> 16) + (b2g3 >>> 16) + 2) >> 2
      output[to + 5] = ((b2g3 & 0xffff) + (r3b3 >>> 16) + 2) >> 2
    }
  }
  return { ...half, pixels: output }
}

function downscaleByBytes({ width, height, pixels }: Frame): Frame {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const output = new Uint8Array(3 * half.width * half.height)
  const stride = 3 * width
  const pairs = width >> 1
  for (let y = 0, to = 0; y < half.height; y++) {
    let upper = 2 * y * stride
    let lower = 2 * y + 1 < height ? upper + stride : upper
    for (let x = 0; x < pairs; x++, to += 3, upper += 6, lower += 6) {
      output[to] =
        ((pixels[upper] ?? 0) +
          (pixels[upper + 3] ?? 0) +
          (pixels[lower] ?? 0) +
          (pixels[lower + 3] ?? 0) +
          2) >>
        2
      output[to + 1] =
        ((pixels[upper + 1] ?? 0) +
          (pixels[upper + 4] ?? 0) +
          (pixels[lower + 1] ?? 0) +
          (pixels[lower + 4] ?? 0) +
          2) >>
        2
      output[to + 2] =
        ((pixels[upper + 2] ?? 0) +
          (pixels[upper + 5] ?? 0) +
          (pixels[lower + 2] ?? 0) +
          (pixels[lower + 5] ?? 0) +
          2) >>
        2
    }
    if (half.width > pairs)
      for (let channel = 0; channel < 3; channel++, to++)
        output[to] = ((pixels[upper + channel] ?? 0) + (pixels[lower + channel] ?? 0) + 1) >> 1
  }
  return { ...half, pixels: output }
}
