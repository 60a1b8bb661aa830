import { createRateMeter, formatRate } from './rate-meter.ts'

/**
 * Shows progress, the rate and the time left on standard error: on one line of a terminal, else one line per 10 %.
 *
 * @param unit plural of what is counted.
 */
export function createProgressBar(unit: string): {
  readonly update: (done: number, total: number) => void
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
