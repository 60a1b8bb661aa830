/** The layout of rows and leads in shared memory, as the kernels read them. */

/** The kernel reads sixteen codes at a time. */
const codesPerStep = 16
/** Scale, bias, slack and group set id follow the codes, so that memory is read sequentially. */
const metadataBytes = 16

export function codeBytes(dimensions: number): number {
  return Math.ceil(dimensions / codesPerStep) * codesPerStep
}

export function rowBytes(dimensions: number): number {
  return codeBytes(dimensions) + metadataBytes
}

/**
 * Axes of a lead. With 48 axes, a lead had 64 bytes, but a tenth of the rows of the benchmark passed,
 * and the scan took longer than without leads.
 */
export const leadAxisCount = 80
/** The codes, then scale, bias, rest and group set id: a third of the bytes of a row of 256 axes. */
export const leadBytes = leadAxisCount + metadataBytes

/** The numbers of the lead axes. */
export type LeadAxes = Uint16Array
