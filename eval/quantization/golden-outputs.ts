import type { Golden } from '../../src/models/builtin/builtin-model.ts'
import { summarize } from '../../src/models/builtin/golden.ts'

/** Creates the golden values of `outputs` for the manifest. */
export function createGolden(
  outputs: Readonly<Record<string, ArrayLike<number>>>,
  tolerance = toleranceFraction,
): Golden {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, values]) => {
      const { samples, meanAbsolute } = summarize(values)
      return [name, { samples, meanAbsolute, tolerance: tolerance * meanAbsolute }]
    }),
  )
}

/**
 * The tolerance as a fraction of the mean absolute value. onnxruntime and TensorFlow.js add in another
 * order and differ by at most a tenth of it. A wrong channel order, exchanged axes or a wrong input
 * scale exceed it for every model of the pack. (A few wrong weights may not; the checksum detects them.)
 */
const toleranceFraction = 2e-3
