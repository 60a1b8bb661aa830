import { AssertionError } from 'node:assert'
import type { FuzzTarget } from '../targets/target.ts'

/** The bounds of one input. */
export const fuzzLimits = {
  /** CPU time of the thread, which other processes of the machine do not affect. */
  cpuMsMax: 100,
  /** Memory of array buffers that one input may allocate. */
  bufferBytesMax: 256 * 1024 * 1024,
} as const

export type Execution = {
  /** The result, or the kind of the rejection: what the corpus grows by. */
  readonly outcome: string
  /** What is wrong, if it is a defect. */
  readonly defect?: string
}

/** Runs a target with one input. */
export async function execute(target: FuzzTarget, input: Uint8Array): Promise<Execution> {
  try {
    const result = target.run(input)
    return { outcome: `ok: ${typeof result === 'string' ? result : await result}` }
  } catch (error) {
    const outcome = describe(error)
    if (!(error instanceof AssertionError) && target.isExpected(error)) return { outcome }
    return { outcome, defect: defectOf(error) }
  }
}

/** Only the first words of each part are kept: the others are often names in the input. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${typeof error}`
  const parts = error.message.slice(0, 200).split(/[:;]/u, 3)
  const words = parts.map((part) =>
    part
      .trim()
      .split(/[^a-z]+/iu, 3)
      .join(' '),
  )
  const cause = error.cause instanceof Error ? ` < ${error.cause.message.slice(0, 12)}` : ''
  return `${error.name}: ${words.join(': ')}${cause}`
}

/** The error with its causes and their places in the source. */
function defectOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${typeof error}`
  const cause = error.cause === undefined ? '' : `\ncaused by ${defectOf(error.cause)}`
  return shortStack(error) + cause
}

function shortStack({ name, message, stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at .*\/(?:src|fuzz)\//u.test(line))
  return `${name}: ${message.slice(0, 300)}\n${frames.slice(0, 4).join('\n')}`
}

/** One defect has many inputs: they differ in the places in the source. */
export function signatureOf(defect: string): string {
  const places = defect.match(/[\w-]+\.ts:\d+/gu) ?? []
  return `${/^\w+/u.exec(defect)?.[0] ?? ''} ${places.slice(0, 3).join(' ')}`
}
