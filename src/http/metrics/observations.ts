/** Measured values that are not in their histogram yet. */
export type Observations<Label> = {
  readonly add: (label: Label, value: number) => void
  /** Adds all values to the histogram. */
  readonly flush: () => void
}

/** The most values that wait. All of them take about a millisecond. */
export const observationsMax = 1000

/**
 * Collects measured values and adds them to a histogram together. A histogram finds the labels and the
 * bucket of each value in code that other work has displaced from the caches of the processor, unless
 * it processes many values at once.
 */
export function createObservations<Label>(
  observe: (label: Label, value: number) => void,
): Observations<Label> {
  const labels: Label[] = []
  const values: number[] = []
  const flush = (): void => {
    for (const [index, label] of labels.entries()) observe(label, values[index] ?? 0)
    labels.length = 0
    values.length = 0
  }
  return {
    add: (label, value) => {
      labels.push(label)
      values.push(value)
      if (labels.length >= observationsMax) flush()
    },
    flush,
  }
}
