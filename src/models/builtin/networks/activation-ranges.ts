import { z } from 'zod'
import type { ActivationRanges } from '../../convert/onnx/quantize.ts'

/** The type of a JSON file has no pairs. */
export function activationRanges(ranges: Readonly<Record<string, number[]>>): ActivationRanges {
  return z.record(z.string(), z.tuple([z.number(), z.number()])).parse(ranges)
}
