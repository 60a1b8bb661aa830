import { createRateMeter, formatRate } from './rate-meter.ts'

type OnProgress = (done: number, total: number) => void

/** Shows a progress bar for work that reports its progress. */
export async function showProgress<Result>(
  unit: string,
  work: (onProgress: OnProgress) => Result | Promise<Result>,
): Promise<Result> {
  const bar = createProgressBar(unit)
  const result = await work(bar.update)
  bar.end()
  return result
}

/**
 * Shows progress, the rate and the time left on standard error: on one line of a terminal, else one line per 10 %.
 *
 * @param unit plural of what is counted.
 */
export function createProgressBar(unit: string): {
  readonly update: OnProgress
  readonly end: () => void
} {
  const { stderr } = process
  const width = 30
  const meter = createRateMeter()
  return {
    update: (done, total) => {
      const share = total === 0 ? 1 : done / total
      const bar = '█'.repeat(Math.round(share * width)).padEnd(width, '░')
      const rate = meter.measure(done, total)
      const text = `${bar} ${done} of ${total} ${unit}${rate ? `, ${formatRate(rate, unit)}` : ''}`
      if (stderr.isTTY) stderr.write(`\r\u001B[K${text}`)
      else if (done === total || done % Math.ceil(total / 10) === 0) stderr.write(`${text}\n`)
    },
    end: () => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
