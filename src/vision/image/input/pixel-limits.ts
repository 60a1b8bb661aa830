import type { ImageLimits } from './encoded-image.ts'

/**
 * The most pixels of an image whose type takes several times as long to decode as JPEG. In the worst
 * case found (PNG with 16 bits, transparency and interlacing), this takes 0.6 s of processor time, a
 * tenth of the default of VISION_TIMEOUT_MS. Photographs of 12 megapixels are below it.
 */
export const slowTypePixelsMax = 16_000_000

/**
 * The most pixels of a JPEG in CMYK and of a PNG with transparent colours: those of many cameras. Both
 * take up to 0.6 s of processor time.
 */
export const fourChannelPixelsMax = 24_000_000

/**
 * The most pixels of an AVIF: those of a 4K picture, 3840 × 2160. In the worst case found (12 bits
 * per sample, full colour resolution), decoding takes 0.7 s of processor time.
 */
export const avifPixelsMax = 3840 * 2160

/**
 * The longest side of an image, px: the longest that a JPEG can have. The decoder keeps many rows in
 * memory: a PNG of 1,249,999 × 32 px (150 kB) takes 1.2 GB, one of 65,535 × 610 px 0.3 GB.
 */
export const sidePxMax = 65_535

/**
 * The most pixels × scans × samples of a JPEG with several scans. They take up to 1.2 s, however small
 * the file is. A progressive photograph has about ten scans.
 */
export const scanSamplesMax = 800_000_000

/** Returns `limits` with at most `pixelsMax` pixels. */
export function limitPixels(limits: ImageLimits, pixelsMax: number): ImageLimits {
  return { ...limits, pixelsMax: Math.min(limits.pixelsMax, pixelsMax) }
}
