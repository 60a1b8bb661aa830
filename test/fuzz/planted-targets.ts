import type { FuzzTarget } from '../../fuzz/targets/target.ts'

/** Parsers with one defect each, which the fuzz program must find. */

function plant(name: string, run: FuzzTarget['run']): FuzzTarget {
  const seeds = () => [Buffer.from(name)]
  return { name, seeds, tokens: ['a'], run, isExpected: () => false }
}

/** Has a defect behind three comparisons: only inputs that are kept for new coverage reach it. */
export const hidden = plant('hidden', (input) => {
  if (input[0] !== 0xf1) return 'first'
  if (input[1] !== 0xf2) return 'first'
  if (input[2] !== 0xf3) return 'first'
  throw new TypeError('the defect behind three comparisons')
})

export const slow = plant('slow', () => {
  const before = process.threadCpuUsage()
  for (let cpuMs = 0; cpuMs < 130;) {
    const { user, system } = process.threadCpuUsage(before)
    cpuMs = (user + system) / 1000
  }
  return 'done'
})

const buffers: Uint8Array[] = []

export const large = plant('large', (input) => {
  buffers.splice(0, 1, new Uint8Array(300 * 1024 * 1024))
  return String(input.length)
})

const endless = plant('endless', () => {
  for (;;);
})

const exiting = plant('exiting', () => process.exit(3))

export const allTargets: readonly FuzzTarget[] = [endless, exiting]
